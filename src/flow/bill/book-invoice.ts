import { adjustmentAfterInvoice } from '../../domain/billing/adjustment';
import type { InvoicedAttempt, InvoiceLine, InvoiceVerdict } from '../../domain/billing/invoice';
import { matchInvoice } from '../../domain/billing/match-invoice';
import { ledgerKeys, unchargedItemKey } from '../../domain/billing/outcomes';
import { costToMicros, rateOf } from '../../domain/billing/pricing';
import { isTerminal } from '../../domain/generation/statuses';
import type { Invoice, InvoiceItem, SettledTask } from '../../ports/stores/invoice-store';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';

const UNCHARGED_MAX = 10_000;
/** Statements that leave in one go. */
const BATCH = 500;

export class TooManyUnchargedError extends Error {
  constructor(readonly limit: number) {
    super('more charges are missing on the invoice than one import can tell');
  }
}

/**
 * Books an invoice under the provider's lock: the platform's costs, the corrections of tenants, the items, the findings.
 * Holds are locked in order of the task and accounts in order of the tenant, each after all before it. Answers how many
 * items each class has.
 */
export const bookInvoice = async (
  context: FlowContext,
  tx: Stores,
  invoice: Invoice,
  { lines, isComplete }: { readonly lines: readonly InvoiceLine[]; readonly isComplete: boolean },
): Promise<Readonly<Record<string, number>>> => {
  const verdicts = matchInvoice(lines, await readFacts(tx, invoice.providerId, lines));
  await recordCosts(context, tx, invoice, verdicts);
  const due = await planAdjustments(tx, verdicts);
  const items = verdicts.map((verdict) =>
    toItem(context, invoice, verdict, due.get(verdict) ?? 0n),
  );
  const adjusted = await adjustTenants(context, tx, invoice, items);
  await tx.invoices.insertItems(adjusted, invoice.createdAt);
  await endFoundMissing(tx, invoice, adjusted);
  const missing = isComplete ? await listMissing(context, tx, invoice) : [];
  if (missing.length > 0) await tx.invoices.insertItems(missing, invoice.createdAt);
  const all = [...adjusted, ...missing];
  await recordFindings(context, tx, all);
  return countClasses(all);
};

const readFacts = async (
  tx: Stores,
  providerId: string,
  lines: readonly InvoiceLine[],
): Promise<Parameters<typeof matchInvoice>[1]> => {
  const jobIds = lines.flatMap(({ jobId }) => jobId ?? []);
  const references = lines.flatMap(({ reference }) => reference ?? []);
  const attempts = await tx.invoices.listAttempts(providerId, jobIds, references);
  const attemptIds = attempts.map(({ id }) => id);
  const [seenKeys, chargedBefore] = await Promise.all([
    tx.invoices.listSeenKeys(
      providerId,
      lines.map(({ key }) => key),
    ),
    tx.invoices.listCharged(providerId, attemptIds, jobIds),
  ]);
  return { attempts, seenKeys: new Set(seenKeys), chargedBefore: new Set(chargedBefore) };
};

const inBatches = async <T>(
  rows: readonly T[],
  work: (row: T) => Promise<unknown>,
): Promise<void> => {
  for (let from = 0; from < rows.length; from += BATCH) {
    await Promise.all(rows.slice(from, from + BATCH).map(work));
  }
};

/** The platform's side: what the provider asks for each item, once. An item that was there before cost nothing again. */
const recordCosts = async (
  context: FlowContext,
  tx: Stores,
  invoice: Invoice,
  verdicts: readonly InvoiceVerdict[],
): Promise<void> => {
  const news = verdicts.filter(({ cause }) => cause !== 'ITEM_SEEN_BEFORE');
  await inBatches(news, ({ line, attempt }) =>
    tx.money.recordProviderCost({
      id: context.ids.next(invoice.createdAt),
      providerId: invoice.providerId,
      attemptId: attempt?.id ?? null,
      jobId: line.jobId,
      source: 'INVOICE',
      amount: line.amount,
      currency: line.currency,
      rateMicros: rateOf(line.currency) ?? 0n,
      businessKey: ledgerKeys.invoiceCost(invoice.providerId, line.key),
      now: invoice.createdAt,
    }),
  );
};

/** By how much each item changes what its tenant can spend; most do not. */
const planAdjustments = async (
  tx: Stores,
  verdicts: readonly InvoiceVerdict[],
): Promise<ReadonlyMap<InvoiceVerdict, bigint>> => {
  const news = verdicts.filter(
    (verdict) => verdict.class === 'LATE' || verdict.class === 'PRICE_DIFFERENCE',
  );
  const taskIds = [...new Set(news.flatMap(({ attempt }) => attempt?.taskId ?? []))];
  const settled = new Map(
    (await tx.invoices.lockSettled(taskIds)).map((each) => [each.currentAttemptId, each]),
  );
  return new Map(
    news.map((verdict) => {
      const task = settled.get(verdict.attempt?.id ?? '');
      return [verdict, task === undefined ? 0n : dueOf(task, verdict.line.costMicros)];
    }),
  );
};

const dueOf = (task: SettledTask, costMicros: bigint): bigint =>
  isTerminal(task.status) && task.holdStatus === 'CLOSED'
    ? adjustmentAfterInvoice(
        {
          end: task.status,
          heldMicros: task.heldMicros,
          settledMicros: task.settledMicros,
          givenBackMicros: task.givenBackMicros,
          deliveredMicros: task.priceMicros,
          bearer: task.bearer,
        },
        costMicros,
      )
    : 0n;

const bookedMicrosOf = ({ booked }: InvoicedAttempt): bigint | null => {
  const rateMicros = booked === null ? null : rateOf(booked.currency);
  return booked === null || rateMicros === null ? null : costToMicros(booked.amount, rateMicros);
};

const toItem = (
  context: FlowContext,
  invoice: Invoice,
  { line, class: found, cause, attempt }: InvoiceVerdict,
  adjustedMicros: bigint,
): InvoiceItem => ({
  id: context.ids.next(invoice.createdAt),
  ...{ invoiceId: invoice.id, providerId: invoice.providerId, lineNo: line.lineNo },
  ...{ itemKey: line.key, jobId: line.jobId, reference: line.reference },
  ...{ amount: line.amount, currency: line.currency, costMicros: line.costMicros },
  ...{ chargedAt: line.chargedAt, class: found, cause },
  ...subjectOf(attempt),
  // What is booked counts against the first charge of an attempt only.
  ...(found === 'DUPLICATE' ? NOTHING_BOOKED : bookedOf(attempt)),
  adjustment: 'NONE',
  adjustedMicros,
});

const subjectOf = (attempt: InvoicedAttempt | null) => ({
  tenantId: attempt?.tenantId ?? null,
  taskId: attempt?.taskId ?? null,
  attemptId: attempt?.id ?? null,
});

const NOTHING_BOOKED = { bookedAmount: null, bookedCurrency: null, bookedMicros: null } as const;

const bookedOf = (attempt: InvoicedAttempt | null) =>
  attempt === null
    ? NOTHING_BOOKED
    : {
        bookedAmount: attempt.booked?.amount ?? null,
        bookedCurrency: attempt.booked?.currency ?? null,
        bookedMicros: bookedMicrosOf(attempt),
      };

/** Corrects accounts in order of the tenant; what cannot be taken stays the platform's. Answers the items as they ended. */
const adjustTenants = async (
  context: FlowContext,
  tx: Stores,
  invoice: Invoice,
  items: readonly InvoiceItem[],
): Promise<InvoiceItem[]> => {
  const outcomes = new Map<string, InvoiceItem['adjustment']>();
  const due = items
    .filter(({ adjustedMicros }) => adjustedMicros !== 0n)
    .sort((a, b) => ((a.tenantId ?? '') < (b.tenantId ?? '') ? -1 : 1));
  for (const item of due) {
    const { tenantId, taskId, attemptId } = item;
    if (tenantId === null || attemptId === null) throw new Error('Nobody to correct');
    const outcome = await tx.money.adjust({
      ...{ tenantId, taskId, attemptId, deltaMicros: item.adjustedMicros },
      businessKey: ledgerKeys.adjustment(attemptId, item.itemKey),
      reason: `INVOICE_${item.class}`,
      actor: invoice.actor,
      entryId: context.ids.next(invoice.createdAt),
      now: invoice.createdAt,
    });
    if (outcome === 'INSUFFICIENT_CREDITS' || outcome === 'BALANCE_TOO_LARGE') {
      outcomes.set(item.id, outcome);
    } else if (outcome === 'CREATED') outcomes.set(item.id, 'BOOKED');
    else throw new Error(`An item that is new was corrected before: ${outcome}`);
  }
  return items.map((item) => ({ ...item, adjustment: outcomes.get(item.id) ?? 'NONE' }));
};

/** What an invoice was said to miss has come with this one. */
const endFoundMissing = async (
  tx: Stores,
  { id, actor, createdAt }: Invoice,
  items: readonly InvoiceItem[],
): Promise<void> => {
  const attemptIds = items.flatMap(({ attemptId }) => attemptId ?? []);
  const missed = await tx.invoices.listMissedItems(attemptIds);
  if (missed.length === 0) return;
  const resolution = `charged by invoice ${id}`;
  await tx.findings.resolveOf('INVOICE_UNCHARGED_SUCCESS', missed, actor, resolution, createdAt);
};

const listMissing = async (
  context: FlowContext,
  tx: Stores,
  invoice: Invoice,
): Promise<InvoiceItem[]> => {
  const missing = await tx.invoices.listUncharged(
    invoice.providerId,
    invoice.periodStart,
    invoice.periodEnd,
    UNCHARGED_MAX + 1,
  );
  if (missing.length > UNCHARGED_MAX) throw new TooManyUnchargedError(UNCHARGED_MAX);
  return missing.map((attempt) => ({
    id: context.ids.next(invoice.createdAt),
    ...{ invoiceId: invoice.id, providerId: invoice.providerId, lineNo: null },
    ...{
      itemKey: unchargedItemKey(attempt.id),
      jobId: attempt.jobId,
      reference: attempt.requestKey,
    },
    ...{ amount: '0', currency: attempt.booked?.currency ?? '', costMicros: 0n, chargedAt: null },
    ...{ class: 'UNCHARGED_SUCCESS', cause: 'NOT_ON_INVOICE' },
    ...subjectOf(attempt),
    ...bookedOf(attempt),
    ...{ adjustment: 'NONE', adjustedMicros: 0n },
  }));
};

const recordFindings = async (
  context: FlowContext,
  tx: Stores,
  items: readonly InvoiceItem[],
): Promise<void> => {
  const now = context.clock.now();
  const off = items.flatMap((item) =>
    item.class === 'MATCHED' ? [] : [{ item, kind: `INVOICE_${item.class}` as const }],
  );
  await inBatches(off, ({ item, kind }) =>
    tx.findings.record({
      id: context.ids.next(now),
      kind,
      subjectKind: 'invoice_item',
      subjectId: item.id,
      tenantId: item.tenantId,
      detail: {
        ...{ invoiceId: item.invoiceId, itemKey: item.itemKey, cause: item.cause },
        ...{ jobId: item.jobId, attemptId: item.attemptId, taskId: item.taskId },
        ...{ amount: item.amount, currency: item.currency, bookedAmount: item.bookedAmount },
        ...{ adjustment: item.adjustment, adjustedMicros: item.adjustedMicros },
      },
      actionTaken: item.adjustment === 'BOOKED' ? 'the tenant was corrected' : null,
      now,
    }),
  );
};

const countClasses = (items: readonly InvoiceItem[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const item of items) counts[item.class] = (counts[item.class] ?? 0) + 1;
  return counts;
};
