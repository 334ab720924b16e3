import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import {
  buildSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  parse,
  validate,
  type GraphQLNamedType,
} from 'graphql';

import { printApiSchema } from '../../../src/resolvers/print-schema';

const SCHEMA_DIR = path.resolve(__dirname, '..', '..', '..', 'schema');
const committed = readFileSync(path.join(SCHEMA_DIR, 'schema.graphql'), 'utf8');
const schema = buildSchema(committed);
const own = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));

/** `Type`, `Type.field` and `Type.field(argument)`, each with its description. */
const describedParts = (type: GraphQLNamedType): [string, string | null | undefined][] => {
  const parts: [string, string | null | undefined][] = [[type.name, type.description]];
  if (isEnumType(type)) {
    for (const value of type.getValues())
      parts.push([`${type.name}.${value.name}`, value.description]);
  }
  if (isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)) {
    for (const field of Object.values(type.getFields())) {
      parts.push([`${type.name}.${field.name}`, field.description]);
      if (!('args' in field)) continue;
      for (const arg of field.args)
        parts.push([`${type.name}.${field.name}(${arg.name})`, arg.description]);
    }
  }
  return parts;
};

describe('the committed schema', () => {
  it('is what the classes say', async () => {
    expect(await printApiSchema()).toBe(committed);
  });

  it('describes every type, field, argument and value', () => {
    const roots = ['Query', 'Mutation', 'Subscription', 'Boolean', 'Float', 'Int', 'ID', 'String'];
    const parts = own.flatMap(describedParts).filter(([name]) => !roots.includes(name));
    expect(parts.length).toBeGreaterThan(300);
    expect(parts.filter(([, text]) => (text ?? '').trim() === '').map(([name]) => name)).toEqual(
      [],
    );
  });

  it('names mutations noun first, each with one input and one payload with userErrors', () => {
    const fields = Object.values(schema.getMutationType()?.getFields() ?? {});
    expect(fields.length).toBeGreaterThan(8);
    for (const field of fields) {
      const name = `${field.name[0]?.toUpperCase()}${field.name.slice(1)}`;
      expect(field.args.map(({ name: arg, type }) => `${arg}: ${String(type)}`)).toEqual([
        `input: ${name}Input!`,
      ]);
      expect(String(field.type)).toBe(`${name}Payload!`);
      const payload = schema.getType(`${name}Payload`);
      if (!isObjectType(payload)) throw new Error(`${name}Payload is no object`);
      const { userErrors } = payload.getFields();
      const errorName = String(userErrors?.type).replace(/[![\]]/g, '');
      const error = schema.getType(errorName);
      if (!isObjectType(error)) throw new Error(`${errorName} is no object`);
      expect(error.getInterfaces().map(String)).toEqual(['UserError']);
      expect(
        isEnumType(schema.getType(String(error.getFields()['code']?.type).replace('!', ''))),
      ).toBe(true);
    }
  });

  const operations = readdirSync(path.join(SCHEMA_DIR, 'operations'));

  it.each(operations)('fits the example %s', (file) => {
    const document = parse(readFileSync(path.join(SCHEMA_DIR, 'operations', file), 'utf8'));
    expect(validate(schema, document)).toEqual([]);
  });
});
