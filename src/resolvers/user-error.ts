import { Field, InterfaceType, ObjectType } from 'type-graphql';

import type { Refusal } from '../domain/generation/refusals';

@InterfaceType({
  description:
    'Why a mutation did nothing. Each mutation has an error type of its own whose `code` is an enum of everything that may ' +
    'happen there; interfaces cannot carry fields of different enums, so `code` stands in the types.',
})
export abstract class UserError {
  @Field(() => String, { description: 'For people; says what to do.' })
  message!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Path of the input field that is to blame, as `imageAssetId`; null where none is.',
  })
  field!: string | null;
}

/** The error type of a mutation, over an enum made with `enumType`. */
export const userErrorType = <Code extends string>(
  name: string,
  codes: Readonly<Record<Code, Code>>,
  description: string,
) => {
  @ObjectType(name, { implements: UserError, description })
  class UserErrorOf extends UserError {
    @Field(() => codes, { description: 'Stable: programs decide by it.' })
    code!: Code;
  }
  return {
    type: UserErrorOf,
    from: ({ code, message, field }: Omit<Refusal<Code>, 'kind'>): UserErrorOf =>
      Object.assign(new UserErrorOf(), { code, message, field }),
  };
};
