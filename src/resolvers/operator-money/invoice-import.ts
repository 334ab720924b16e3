import { Length } from 'class-validator';
import {
  Arg,
  Authorized,
  Ctx,
  Field,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Resolver,
} from 'type-graphql';

import type { InvoiceFormat } from '../../domain/billing/invoice';
import { importInvoice, type InvoiceRefusal } from '../../flow/bill/import-invoice';
import type { BadLine } from '../../flow/bill/read-invoice';
import type { ApiContext } from '../api-context';
import { enumType } from '../enum-type';
import { DateTimeScalar } from '../scalars';
import { actorOf } from '../operator/order';
import { userErrorType } from '../user-error';
import { InvoiceFormatEnum, InvoiceType } from './invoice-type';
import { INVOICE_BYTES_MAX, TEXT_CHARS_MAX } from './text-limits';

const InvoiceImportErrorCode = enumType<InvoiceRefusal>(
  'InvoiceImportErrorCode',
  'Why nothing was imported.',
  {
    PROVIDER_NOT_FOUND: 'There is no such provider.',
    PERIOD_INVALID: 'The period ends before it begins.',
    REASON_REQUIRED: 'An import has a reason.',
    INVOICE_EMPTY: 'It has no item.',
    INVOICE_TOO_LARGE: `More than ${INVOICE_BYTES_MAX} bytes or 50000 lines; import it in parts.`,
    INVOICE_BROKEN: 'It has lines that cannot be read; `badLines` has them.',
    TOO_MANY_UNCHARGED:
      'More than 10000 booked charges of the period are not listed; import shorter periods.',
  },
);
const importError = userErrorType(
  'InvoiceImportError',
  InvoiceImportErrorCode,
  'Why nothing was imported.',
);

const BadLineCodeEnum = enumType<BadLine['code']>(
  'InvoiceLineFault',
  'What is wrong with a line.',
  {
    LINE_TOO_LONG: 'More than 16384 bytes.',
    TEXT_INVALID: 'Not UTF-8.',
    HEADER_INVALID: 'The header of a CSV file lacks a column, or has one twice.',
    CSV_INVALID: 'Not CSV, or not as many fields as the header has.',
    JSON_INVALID: 'Not an object of JSON.',
    KEY_TWICE: 'An object of JSON names a key twice: nobody could say which value counts.',
    ITEM_ID_INVALID: '`id` is not 1 to 200 visible ASCII characters.',
    JOB_ID_INVALID: '`job_id` is not 1 to 200 visible ASCII characters, nor absent.',
    REFERENCE_INVALID: '`reference` is not 1 to 200 visible ASCII characters, nor absent.',
    AMOUNT_INVALID: '`amount` is no plain decimal text with at most 12 and 6 digits, not negative.',
    AMOUNT_TOO_LARGE: '`amount` is more than the books can hold.',
    CURRENCY_INVALID: '`currency` is not a code of three capital letters.',
    CURRENCY_WITHOUT_RATE: 'There is no rate for `currency`.',
    TIME_INVALID:
      '`at` is not an instant of ISO 8601 with its offset, or of a day that does not exist.',
    OUTSIDE_PERIOD: '`at` is not within the period.',
  },
);

@ObjectType({ description: 'A line that cannot be read.' })
export class InvoiceBadLine {
  @Field(() => Int, { description: 'Its number, from 1.' })
  line!: number;

  @Field(() => BadLineCodeEnum, { description: 'What is wrong with it.' })
  code!: BadLine['code'];
}

@InputType({ description: 'An invoice of a provider.' })
export class InvoiceImportInput {
  @Field(() => String, { description: 'The provider, as `sandbox`.' })
  @Length(1, 100)
  provider!: string;

  @Field(() => InvoiceFormatEnum, { description: 'How it is written.' })
  format!: InvoiceFormat;

  @Field(() => DateTimeScalar, { description: 'The first instant that it covers.' })
  periodStart!: Date;

  @Field(() => DateTimeScalar, {
    description: 'The first instant that it does not cover any more.',
  })
  periodEnd!: Date;

  @Field(() => Boolean, {
    defaultValue: false,
    description:
      'It lists every charge of the period, so that what is booked and not on it is told as missing. Not for one part of several.',
  })
  isComplete!: boolean;

  @Field(() => String, { description: `The file; at most ${INVOICE_BYTES_MAX} bytes.` })
  text!: string;

  @Field(() => String, { description: 'For the audit log.' })
  @Length(0, TEXT_CHARS_MAX)
  reason!: string;
}

@ObjectType({ description: 'Answer of invoiceImport.' })
export class InvoiceImportPayload {
  @Field(() => InvoiceType, { nullable: true, description: 'The invoice with its report.' })
  invoice!: InvoiceType | null;

  @Field(() => Boolean, {
    description: 'The same file had been imported before; nothing was changed.',
  })
  repeated!: boolean;

  @Field(() => [InvoiceBadLine], { description: 'The first 100 lines that cannot be read.' })
  badLines!: readonly InvoiceBadLine[];

  @Field(() => Int, { description: 'How many lines cannot be read.' })
  badLineCount!: number;

  @Field(() => [importError.type], { description: 'Empty when it was imported.' })
  userErrors!: readonly ReturnType<typeof importError.from>[];
}

@Resolver()
export class InvoiceImportResolver {
  @Authorized('operator')
  @Mutation(() => InvoiceImportPayload, {
    description:
      'Operator: matches an invoice of a provider with the attempts that it charges. All of it or nothing; the same file ' +
      'again changes nothing.',
  })
  async invoiceImport(
    @Arg('input', () => InvoiceImportInput, { description: 'What is asked.' })
    input: InvoiceImportInput,
    @Ctx() context: ApiContext,
  ): Promise<InvoiceImportPayload> {
    const outcome = await importInvoice(context.deps.context, {
      providerId: input.provider,
      format: input.format,
      period: { start: input.periodStart, end: input.periodEnd },
      isComplete: input.isComplete,
      chunks: [Buffer.from(input.text)],
      sizeBytesMax: INVOICE_BYTES_MAX,
      reason: input.reason,
      actor: actorOf(context),
    });
    if (outcome.kind === 'IMPORTED') {
      const invoice = new InvoiceType(outcome.invoice);
      return { invoice, repeated: outcome.repeated, badLines: [], badLineCount: 0, userErrors: [] };
    }
    return {
      ...NOTHING,
      badLines: outcome.badLines.map(({ lineNo, code }) => ({ line: lineNo, code })),
      badLineCount: outcome.badLineCount,
      userErrors: [importError.from(outcome)],
    };
  }
}

const NOTHING = { invoice: null, repeated: false, badLines: [], badLineCount: 0 } as const;
