import { Field, ID, ObjectType } from 'type-graphql';

import type { LedgerKind } from '../domain/billing/outcomes';
import type { LedgerEntry } from '../ports/read-model';
import { connectionType } from './connection';
import { enumType } from './enum-type';
import { Node } from './node';
import { toPublicId } from './public-id';
import { DateTimeScalar, DecimalScalar, MoneyScalar } from './scalars';
import { formatCredits } from '../domain/kernel/money';

export const LedgerKindEnum = enumType<LedgerKind>('LedgerKind', 'What a credit movement is.', {
  RESERVE: 'Credits set aside when a generation is accepted.',
  SETTLE: 'Credits charged when it ends.',
  RELEASE: 'The part of the reservation that came back.',
  REFUND: 'Charged credits given back.',
  ADJUSTMENT: 'A later correction.',
  GRANT: 'Credits added to the account.',
});

@ObjectType('LedgerEntry', {
  implements: Node,
  description: 'One movement of credits. Entries are never changed or removed.',
})
export class LedgerEntryType extends Node {
  constructor(readonly entry: LedgerEntry) {
    super(toPublicId('ledgerEntry', entry.id));
  }

  @Field(() => LedgerKindEnum, { description: 'What it is.' })
  get kind(): LedgerKind {
    return this.entry.kind;
  }

  @Field(() => MoneyScalar, { description: 'How many credits moved.' })
  get amount(): bigint {
    return this.entry.amountMicros;
  }

  @Field(() => DecimalScalar, { description: 'By how much the available credits changed.' })
  get availableChange(): string {
    return formatCredits(this.entry.availableDelta);
  }

  @Field(() => DecimalScalar, { description: 'By how much the reserved credits changed.' })
  get heldChange(): string {
    return formatCredits(this.entry.heldDelta);
  }

  @Field(() => String, { description: 'Why: a stable word, or the words of who decided it.' })
  get reason(): string {
    return this.entry.reason;
  }

  @Field(() => String, {
    description:
      'Who caused it: `system` for what follows from a generation, `operator` for a decision of a person.',
  })
  get actor(): string {
    // Which person, with which key, stands in the audit log.
    return this.entry.actor === 'system' ? 'system' : 'operator';
  }

  @Field(() => ID, { nullable: true, description: 'The generation it belongs to.' })
  get generationId(): string | null {
    return this.entry.taskId === null ? null : toPublicId('generation', this.entry.taskId);
  }

  @Field(() => ID, { nullable: true, description: 'The attempt it belongs to.' })
  get attemptId(): string | null {
    return this.entry.attemptId === null ? null : toPublicId('attempt', this.entry.attemptId);
  }

  @Field(() => DateTimeScalar, { description: 'When it was written.' })
  get createdAt(): Date {
    return this.entry.createdAt;
  }
}

export const LedgerEntryConnection = connectionType('LedgerEntry', () => LedgerEntryType);
