import { Field, ObjectType, type ClassType } from 'type-graphql';

import type { Refusal } from '../../domain/generation/refusals';
import type { Acted, CommonRefusal } from '../../flow/operate/operator-action';
import { enumType } from '../enum-type';
import { userErrorType } from '../user-error';
import { COMMON_REFUSALS } from './order';

/**
 * Payload and error type of one order: `subject` as it stands after it, or why nothing was done.
 * @param name of the mutation, with a capital
 * @param codes what may be wrong beside what is common to all
 */
export const orderPayload = <Code extends string, Key extends string, Node extends object>(
  name: string,
  key: Key,
  node: () => ClassType<Node>,
  codes: Readonly<Record<Code, string>>,
) => {
  const codeEnum = enumType<Code | CommonRefusal>(`${name}ErrorCode`, 'Why nothing was done.', {
    ...COMMON_REFUSALS,
    ...codes,
  });
  const error = userErrorType(`${name}Error`, codeEnum, 'Why nothing was done.');
  type UserError = ReturnType<typeof error.from>;

  @ObjectType(`${name}Payload`, {
    description: `Answer of ${name[0]?.toLowerCase()}${name.slice(1)}.`,
  })
  class Payload {
    @Field(() => node(), {
      name: key,
      nullable: true,
      description: 'As it stands now; null where nothing was done.',
    })
    subject!: Node | null;

    @Field(() => [error.type], { description: 'Empty when it was done.' })
    userErrors!: readonly UserError[];
  }
  const refused = (refusal: Omit<Refusal<Code | CommonRefusal>, 'kind'>): Payload => ({
    subject: null,
    userErrors: [error.from(refusal)],
  });
  return {
    type: Payload,
    from: <Result>(acted: Acted<Result, Code>, toNode: (result: Result) => Node): Payload =>
      acted.kind === 'REFUSED' ? refused(acted) : { subject: toNode(acted.result), userErrors: [] },
  };
};

export type PayloadOf<P extends { readonly type: ClassType }> = InstanceType<P['type']>;
