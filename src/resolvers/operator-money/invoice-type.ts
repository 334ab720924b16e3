import { Field, ID, Int, ObjectType } from 'type-graphql';

import type { InvoiceCause, InvoiceClass, InvoiceFormat } from '../../domain/billing/invoice';
import { formatCredits } from '../../domain/kernel/money';
import type { InvoiceTotal } from '../../ports/invoice-reads';
import type { Invoice, InvoiceItem } from '../../ports/stores/invoice-store';
import { connectionType } from '../connection';
import { enumType } from '../enum-type';
import { toPublicId } from '../public-id';
import { DateTimeScalar, DecimalScalar, MoneyScalar } from '../scalars';

export const InvoiceFormatEnum = enumType<InvoiceFormat>(
  'InvoiceFormat',
  'How an invoice is written.',
  {
    CSV: 'Comma-separated, with a header of `id,job_id,reference,amount,currency,at`.',
    JSON_LINES: 'One JSON object a line, with the same names.',
  },
);

export const InvoiceClassEnum = enumType<InvoiceClass>(
  'InvoiceClass',
  'What an item was found to be.',
  {
    MATCHED: 'As it was booked.',
    PRICE_DIFFERENCE: 'Another amount than was booked.',
    DUPLICATE: 'Charged before, on this invoice or on an earlier one.',
    ORPHAN: 'No attempt has such a job or reference.',
    LATE: 'The charge of an attempt for which none was ever told.',
    UNCHARGED_SUCCESS:
      'No item at all: a booked charge of the period that the invoice does not list.',
  },
);

const InvoiceCauseEnum = enumType<InvoiceCause>(
  'InvoiceCause',
  'How an item came to be what it is.',
  {
    EQUAL: 'Nothing is off.',
    ABOVE_BOOKED: 'More than was booked.',
    BELOW_BOOKED: 'Less than was booked.',
    OTHER_CURRENCY: 'In another currency than was booked.',
    CHARGED_TWICE: 'Another item charged the attempt, or the job, before.',
    ITEM_SEEN_BEFORE: 'The very item stood there before; it cost nothing again.',
    JOB_UNKNOWN: 'No attempt has the job.',
    REFERENCE_UNKNOWN: 'No attempt has the reference.',
    NOTHING_NAMED: 'It names neither a job nor a reference.',
    NEVER_ACCEPTED: 'The provider had refused the attempt.',
    STILL_OPEN: 'The attempt has not ended as far as we know.',
    GIVEN_UP: 'The attempt was given up for lost.',
    ENDED_WITHOUT_CHARGE: 'The attempt had ended, and no charge was told.',
    NOT_ON_INVOICE: 'It is not listed.',
  },
);

const InvoiceAdjustmentEnum = enumType<InvoiceItem['adjustment']>(
  'InvoiceAdjustment',
  'Whether the account of the tenant was corrected.',
  {
    NONE: 'Nothing was to be corrected: it is the platform’s cost.',
    BOOKED: 'The ledger has an ADJUSTMENT.',
    INSUFFICIENT_CREDITS: 'The account had too little; it stays the platform’s cost.',
    BALANCE_TOO_LARGE: 'The account could not hold so much.',
  },
);

@ObjectType('InvoiceItem', {
  description: 'A line of an invoice, or a charge that is missing there.',
})
export class InvoiceItemType {
  constructor(private readonly item: InvoiceItem) {}

  @Field(() => ID, { description: 'As `ini_…`.' })
  get id(): string {
    return toPublicId('invoiceItem', this.item.id);
  }

  @Field(() => Int, {
    nullable: true,
    description: 'Where it stands in the file; null where it is missing there.',
  })
  get line(): number | null {
    return this.item.lineNo;
  }

  @Field(() => String, { description: 'The provider’s own id of the charge.' })
  get key(): string {
    return this.item.itemKey;
  }

  @Field(() => InvoiceClassEnum, { description: 'What it was found to be.' })
  get class(): InvoiceClass {
    return this.item.class;
  }

  @Field(() => InvoiceCauseEnum, { description: 'How it came to be that.' })
  get cause(): InvoiceCause {
    return this.item.cause;
  }

  @Field(() => String, { nullable: true, description: 'The provider’s job.' })
  get jobId(): string | null {
    return this.item.jobId;
  }

  @Field(() => ID, { nullable: true, description: 'The account that it is about.' })
  get tenantId(): string | null {
    return this.item.tenantId === null ? null : toPublicId('tenant', this.item.tenantId);
  }

  @Field(() => ID, { nullable: true, description: 'The generation that it is about.' })
  get generationId(): string | null {
    return this.item.taskId === null ? null : toPublicId('generation', this.item.taskId);
  }

  @Field(() => ID, { nullable: true, description: 'The attempt that it charges.' })
  get attemptId(): string | null {
    return this.item.attemptId === null ? null : toPublicId('attempt', this.item.attemptId);
  }

  @Field(() => DecimalScalar, { description: 'What the provider asks for.' })
  get amount(): string {
    return this.item.amount;
  }

  @Field(() => DecimalScalar, {
    nullable: true,
    description: 'What was booked for the attempt before.',
  })
  get bookedAmount(): string | null {
    return this.item.bookedAmount;
  }

  @Field(() => String, { description: 'The currency, by its code.' })
  get currency(): string {
    return this.item.currency;
  }

  @Field(() => MoneyScalar, { description: 'The amount in credits.' })
  get cost(): bigint {
    return this.item.costMicros;
  }

  @Field(() => InvoiceAdjustmentEnum, {
    description: 'Whether the tenant’s account was corrected.',
  })
  get adjustment(): InvoiceItem['adjustment'] {
    return this.item.adjustment;
  }

  @Field(() => DecimalScalar, { description: 'By how many credits it was, or should have been.' })
  get adjusted(): string {
    return formatCredits(this.item.adjustedMicros);
  }
}

@ObjectType('InvoiceTotal', { description: 'The items of one class in one currency.' })
export class InvoiceTotalType {
  constructor(readonly total: InvoiceTotal) {}

  @Field(() => InvoiceClassEnum, { description: 'The class.' })
  get class(): InvoiceClass {
    return this.total.class;
  }

  @Field(() => String, { description: 'The currency, by its code.' })
  get currency(): string {
    return this.total.currency;
  }

  @Field(() => Int, { description: 'How many items.' })
  get items(): number {
    return this.total.items;
  }

  @Field(() => DecimalScalar, { description: 'What the provider asks for them.' })
  get amount(): string {
    return this.total.amount;
  }

  @Field(() => DecimalScalar, { description: 'The same in credits.' })
  get cost(): string {
    return formatCredits(this.total.costMicros);
  }

  @Field(() => DecimalScalar, { description: 'What was booked for them before, in credits.' })
  get booked(): string {
    return formatCredits(this.total.bookedMicros);
  }

  @Field(() => DecimalScalar, {
    description: 'By how many credits the invoice differs from the books.',
  })
  get difference(): string {
    return formatCredits(this.total.costMicros - this.total.bookedMicros);
  }
}

@ObjectType('Invoice', { description: 'An invoice of a provider, as it was imported.' })
export class InvoiceType {
  constructor(readonly invoice: Invoice) {}

  @Field(() => ID, { description: 'As `inv_…`.' })
  get id(): string {
    return toPublicId('invoice', this.invoice.id);
  }

  @Field(() => String, { description: 'The provider.' })
  get provider(): string {
    return this.invoice.providerId;
  }

  @Field(() => String, { description: 'SHA-256 of the file, in hex.' })
  get digest(): string {
    return this.invoice.digest;
  }

  @Field(() => DateTimeScalar, { description: 'The first instant of the period.' })
  get periodStart(): Date {
    return this.invoice.periodStart;
  }

  @Field(() => DateTimeScalar, { description: 'The first instant after the period.' })
  get periodEnd(): Date {
    return this.invoice.periodEnd;
  }

  @Field(() => Int, { description: 'How many lines the file has.' })
  get lines(): number {
    return this.invoice.lineCount;
  }

  @Field(() => String, { description: 'Why it was imported.' })
  get reason(): string {
    return this.invoice.reason;
  }

  @Field(() => DateTimeScalar, { description: 'When it was imported.' })
  get createdAt(): Date {
    return this.invoice.createdAt;
  }
}

export const InvoiceConnection = connectionType('Invoice', () => InvoiceType);
export const InvoiceItemConnection = connectionType('InvoiceItem', () => InvoiceItemType);
