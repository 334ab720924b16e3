import type { QueryArrayConfig, QueryArrayResult } from 'pg';

import { statementOf, type Statement } from './statements';

interface Asked {
  readonly query: QueryArrayConfig;
  readonly resolve: (result: QueryArrayResult) => void;
  readonly reject: (error: unknown) => void;
}

export interface Joined {
  readonly query: QueryArrayConfig;
  readonly askers: Pick<Asked, 'resolve' | 'reject'>;
}

/**
 * The same statement for many rows, written by hand: its parameters have the same names, each an array with one element for each asker.
 * An answer is of the asker whose `parameter` is in its `column`.
 */
interface ManyForm {
  readonly many: string;
  readonly parameter: string;
  readonly column: string;
}

const MANY_FORMS: Readonly<Record<string, ManyForm>> = {
  'enter-inbox': { many: 'enter-inbox-many', parameter: 'eventId', column: 'event_id' },
  'lock-task': { many: 'lock-tasks', parameter: 'taskId', column: 'id' },
  'move-task': { many: 'move-tasks', parameter: 'taskId', column: 'id' },
  'read-attempt': { many: 'read-attempts', parameter: 'attemptId', column: 'id' },
  'lock-attempt': { many: 'lock-attempts', parameter: 'attemptId', column: 'id' },
  'patch-attempt': { many: 'patch-attempts', parameter: 'attemptId', column: 'id' },
  'insert-asset': { many: 'insert-assets', parameter: 'id', column: 'id' },
  'patch-asset': { many: 'patch-assets', parameter: 'assetId', column: 'id' },
  'record-moderation': { many: 'record-moderations', parameter: 'id', column: 'id' },
  'match-provider-event': { many: 'match-provider-events', parameter: 'id', column: 'id' },
  'insert-messages': {
    many: 'insert-messages-of-many',
    parameter: 'aggregateId',
    column: 'aggregate_id',
  },
};

/** Reads that are asked for many by a lateral join over the askers; with the types of their parameters, in order. */
const LATERAL_READS: Readonly<Record<string, readonly string[]>> = {
  'count-live-of-tenant': ['uuid'],
  'find-attempt-by-job': ['text', 'text'],
  'find-attempt-by-request-key': ['text', 'text'],
  'list-attempts-of-task': ['uuid'],
  'list-orphans-of-attempt': ['text', 'text', 'text'],
  'lock-asset': ['uuid'],
  'read-hold-to-settle': ['text', 'uuid'],
  'read-provider-event': ['uuid'],
  'read-task': ['uuid'],
};

/** How one name is asked for many: the statement, and whose a row of the answer is. */
interface Form {
  readonly many: Statement;
  /** Two askers with the same are not joined. */
  rowOf(query: QueryArrayConfig): string;
  valuesFor(queries: readonly QueryArrayConfig[]): unknown[];
  /** Answers of the askers, in their order. */
  split(result: QueryArrayResult, queries: readonly QueryArrayConfig[]): QueryArrayResult[];
}

/** The same statement asked for by several, each for another row, becomes one; the others stay as they are. */
export const joinStatements = (asked: readonly Asked[]): Joined[] => {
  const groups = new Map<string, Map<string, Asked>>();
  const joined: (() => Joined)[] = [];
  for (const each of asked) {
    const name = each.query.name ?? '';
    const form = formOf(name);
    const row = form?.rowOf(each.query) ?? '';
    const group = groups.get(name);
    if (form === null || group?.has(row) === true) {
      joined.push(() => ({ query: each.query, askers: each }));
    } else if (group !== undefined) {
      group.set(row, each);
    } else {
      const begun = new Map([[row, each]]);
      groups.set(name, begun);
      joined.push(() => join([...begun.values()], form));
    }
  }
  return joined.map((make) => make());
};

const join = (askers: readonly Asked[], form: Form): Joined => {
  const [first] = askers;
  if (askers.length === 1 && first !== undefined) return { query: first.query, askers: first };
  const queries = askers.map(({ query }) => query);
  const { name, text } = form.many;
  return {
    query: { name, text, values: form.valuesFor(queries), rowMode: 'array' },
    askers: {
      resolve: (result) => {
        const answers = form.split(result, queries);
        for (const [i, { resolve }] of askers.entries()) resolve(answers[i] as QueryArrayResult);
      },
      reject: (error) => {
        for (const { reject } of askers) reject(error);
      },
    },
  };
};

const forms = new Map<string, Form | null>();

const formOf = (name: string): Form | null => {
  const known = forms.get(name);
  if (known !== undefined) return known;
  const many = MANY_FORMS[name];
  const types = LATERAL_READS[name];
  const form =
    many !== undefined
      ? writtenForm(name, many)
      : types !== undefined
        ? lateralForm(name, types)
        : null;
  forms.set(name, form);
  return form;
};

const writtenForm = (name: string, { many: manyName, parameter, column }: ManyForm): Form => {
  const one = statementOf(name);
  const many = statementOf(manyName);
  const places = many.parameters.map((each) => {
    const place = one.parameters.indexOf(each);
    if (place < 0) throw new TypeError(`${name} has no parameter ${each} for ${manyName}`);
    return place;
  });
  const key = one.parameters.indexOf(parameter);
  const rowOf: Form['rowOf'] = ({ values }) => String(values?.[key]);
  return {
    many,
    rowOf,
    valuesFor: (queries) => places.map((place) => queries.map(({ values }) => values?.[place])),
    split: (result, queries) => {
      const at = result.fields.findIndex((field) => field.name === column);
      const rows = new Map(result.rows.map((row) => [String(row[at]), row]));
      return queries.map((query) => {
        const row = rows.get(rowOf(query));
        return { ...result, rows: row === undefined ? [] : [row] };
      });
    },
  };
};

/** For each asker in turn the rows that the statement answers, with the asker's place as the last column. */
const lateralForm = (name: string, types: readonly string[]): Form => {
  const one = statementOf(name);
  const columns = types.map((_, i) => `p${String(i + 1)}`);
  const arrays = types.map((type, i) => `$${String(i + 1)}::${type}[]`);
  const inner = one.text.replace(/\$(\d+)/g, (_, place: string) => `asked.p${place}`);
  const text = `SELECT answer.*, asked.place
FROM unnest(${arrays.join(', ')}) WITH ORDINALITY AS asked (${[...columns, 'place'].join(', ')})
CROSS JOIN LATERAL (${inner}) AS answer`;
  return {
    many: { name: `${name}*`, text, parameters: one.parameters },
    rowOf: ({ values }) => JSON.stringify(values),
    valuesFor: (queries) => types.map((_, i) => queries.map(({ values }) => values?.[i])),
    split: ({ fields, rows, ...rest }, queries) => {
      const answers = queries.map((): unknown[][] => []);
      for (const row of rows) answers[Number(row.at(-1)) - 1]?.push(row.slice(0, -1));
      return answers.map((own) => ({ ...rest, fields: fields.slice(0, -1), rows: own }));
    },
  };
};

/** All statements for many that are not files, for a test that has the database read them. */
export const lateralStatements = (): readonly Statement[] =>
  Object.entries(LATERAL_READS).map(([name, types]) => lateralForm(name, types).many);
