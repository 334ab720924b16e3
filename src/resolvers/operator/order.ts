import { Length, NotContains } from 'class-validator';
import { Field, InputType } from 'type-graphql';

import type { CommonRefusal, OperatorOrder } from '../../flow/operate/operator-action';
import { callerOf, type ApiContext } from '../api-context';

export const TEXT_CHARS_MAX = 1_000;

/** What every order of an operator has. */
@InputType()
export abstract class OrderInput {
  @Field(() => String, {
    description: 'Why: an order without a reason is refused. For the audit log.',
  })
  @Length(0, TEXT_CHARS_MAX)
  @NotContains('\0')
  reason!: string;
}

export const actorOf = (context: ApiContext): string => `api_key:${callerOf(context).keyId}`;

export const orderOf = (context: ApiContext, { reason }: OrderInput): OperatorOrder => ({
  actor: actorOf(context),
  reason,
});

/** Refusals that every action of an operator has. */
export const COMMON_REFUSALS = {
  NOT_FOUND: 'There is none.',
  REASON_REQUIRED: 'A decision has a reason.',
} as const satisfies Record<CommonRefusal, string>;
