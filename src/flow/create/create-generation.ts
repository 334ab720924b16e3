import type { RequestInput } from '../../domain/generation/normalize';
import { refuse, type CreateRefusal, type Refusal } from '../../domain/generation/refusals';
import type { GenerationRequest, Task } from '../../domain/generation/task';
import { crashpoint } from '../../ports/crash-points';
import {
  ModerationUnavailableError,
  type Moderation,
  type ModerationVerdict,
} from '../../ports/moderation';
import type { Quote, Tenant } from '../../ports/stores/catalog-store';
import type { NewTask } from '../../ports/stores/task-store';
import type { Stores } from '../../ports/unit-of-work';
import { reserveCredits } from '../bill/reserve-credits';
import type { FlowContext } from '../flow-context';
import { hashOf, prepareRequest, seedOf, type Prepared } from './prepare-request';

export interface CreateInput {
  readonly tenantId: string;
  readonly projectId: string | null;
  readonly apiKeyId: string | null;
  readonly idempotencyKey: string;
  readonly request: RequestInput;
  readonly quoteId: string | null;
  /** The caller's ceiling; a higher price is refused. */
  readonly maxMicros: bigint | null;
  readonly traceId: string;
}

export type CreateOutcome =
  | { readonly kind: 'CREATED' | 'REPLAYED'; readonly task: Task }
  /** Nothing is wrong with the request: what was accepted before does not move on, and more would only wait. */
  | { readonly kind: 'OVERLOADED'; readonly retryAfterMs: number }
  | Refusal<CreateRefusal>;

const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/;

const PRIORITY_OF_TIER = { FREE: 0, STANDARD: 10, PREMIUM: 20 } as const;

/**
 * Creates a paid generation: idempotent per (tenant, key), kept as long as the task. Checks, moderation and price come
 * first and write nothing; then one transaction holds the reservation, the task with its history, and the outbox.
 * A refusal leaves the key free.
 */
export const createGeneration = async (
  context: FlowContext,
  moderation: Moderation,
  input: CreateInput,
): Promise<CreateOutcome> => {
  if (!KEY_PATTERN.test(input.idempotencyKey)) {
    return refuse(
      'IDEMPOTENCY_KEY_INVALID',
      'Send an idempotency key of 1 to 255 visible ASCII characters, new for each generation.',
      'idempotencyKey',
    );
  }
  const { stores } = context.uow;
  const prepared = await prepareRequest(stores, input.tenantId, input.request);
  const replay = await findReplay(stores, input, prepared);
  if (replay !== null) return replay;
  if (prepared.kind === 'REFUSED') return prepared;
  const tenant = await stores.catalog.readTenant(input.tenantId);
  if (tenant === null || tenant.status !== 'ACTIVE') {
    return refuse('TENANT_PAUSED', 'The account is paused; ask the operator.');
  }
  const closed = await context.admission.judge(tenant.tier);
  if (closed !== null) return { kind: 'OVERLOADED', ...closed };
  const priced = await priceFor(context, stores, input, prepared);
  if (typeof priced !== 'bigint') return priced;
  const verdict = await judgePrompt(context, moderation, prepared);
  if (verdict.verdict === 'REJECT') {
    await recordRefusal(context, moderation, input, verdict);
    return refuse(
      'MODERATION_REJECTED',
      'The prompt is not allowed by the content rules.',
      'prompt',
    );
  }
  const outcome = await commit(context, moderation, { input, prepared, tenant, priced, verdict });
  crashpoint('create.after_commit_before_answer');
  return outcome;
};

/**
 * The original answered again, or a conflict. A repeat is answered even when the request would be refused today (its
 * asset was deleted, its model retired): what counts is the hash kept with the original.
 */
const findReplay = async (
  stores: Stores,
  input: CreateInput,
  prepared: Prepared | Refusal<CreateRefusal>,
): Promise<CreateOutcome | null> => {
  const original = await stores.tasks.findByIdempotencyKey(input.tenantId, input.idempotencyKey);
  if (original === null) return null;
  if (prepared.kind === 'OK') {
    return original.requestHash === prepared.requestHash
      ? { kind: 'REPLAYED', task: original }
      : conflict();
  }
  const kept = await stores.tasks.readRequest(original.id);
  const sameText =
    kept !== null &&
    kept.model === input.request.model &&
    kept.prompt === input.request.prompt.normalize('NFC').trim() &&
    kept.imageAssetId === (input.request.imageAssetId ?? null);
  return sameText ? { kind: 'REPLAYED', task: original } : conflict();
};

const conflict = (): Refusal<CreateRefusal> =>
  refuse(
    'IDEMPOTENCY_CONFLICT',
    'This idempotency key belongs to a generation with other parameters; use a new key.',
    'idempotencyKey',
  );

const priceFor = async (
  context: FlowContext,
  stores: Stores,
  input: CreateInput,
  prepared: Prepared,
): Promise<bigint | Refusal<CreateRefusal>> => {
  let price = prepared.priceMicros;
  if (input.quoteId !== null) {
    const quote = await stores.quotes.read(input.quoteId);
    const refusal = judgeQuote(context, quote, input, prepared);
    if (refusal !== null || quote === null) {
      return refusal ?? refuse('QUOTE_NOT_FOUND', 'There is no such quote.', 'quoteId');
    }
    price = quote.priceMicros;
  }
  return input.maxMicros !== null && price > input.maxMicros
    ? refuse('PRICE_ABOVE_MAX', 'The price is above the ceiling you set.', 'maxCredits')
    : price;
};

const judgeQuote = (
  context: FlowContext,
  quote: Quote | null,
  input: CreateInput,
  prepared: Prepared,
): Refusal<CreateRefusal> | null => {
  if (quote === null || quote.tenantId !== input.tenantId) {
    return refuse('QUOTE_NOT_FOUND', 'There is no such quote.', 'quoteId');
  }
  if (quote.expiresAt <= context.clock.now()) {
    return refuse('QUOTE_EXPIRED', 'The quote has expired; ask for a new one.', 'quoteId');
  }
  return quote.requestHash === hashOf({ ...prepared.request, seed: null })
    ? null
    : refuse('QUOTE_MISMATCH', 'The quote was made for other parameters.', 'quoteId');
};

const judgePrompt = async (
  context: FlowContext,
  moderation: Moderation,
  prepared: Prepared,
): Promise<ModerationVerdict> => {
  try {
    return await moderation.judgePrompt({
      prompt: prepared.request.prompt,
      negativePrompt: prepared.request.negativePrompt,
    });
  } catch (error) {
    if (!(error instanceof ModerationUnavailableError)) throw error;
    context.log.warn('moderator is unavailable; the prompt waits for a person', {});
    return { verdict: 'REVIEW', reasonCode: 'MODERATOR_UNAVAILABLE' };
  }
};

const recordRefusal = async (
  context: FlowContext,
  moderation: Moderation,
  input: CreateInput,
  verdict: Extract<ModerationVerdict, { verdict: 'REJECT' | 'REVIEW' }>,
): Promise<void> => {
  const now = context.clock.now();
  await context.uow.stores.audit.record({
    id: context.ids.next(now),
    tenantId: input.tenantId,
    actor: input.apiKeyId === null ? 'api' : `api_key:${input.apiKeyId}`,
    action: 'generation.create.refused',
    subjectKind: 'PROMPT',
    subjectId: input.traceId,
    reason: `${verdict.reasonCode} (${moderation.rulesVersion})`,
    before: null,
    after: null,
    now,
  });
};

interface Commit {
  readonly input: CreateInput;
  readonly prepared: Prepared;
  readonly tenant: Tenant;
  readonly priced: bigint;
  readonly verdict: ModerationVerdict;
}

const commit = async (
  context: FlowContext,
  moderation: Moderation,
  ready: Commit,
): Promise<CreateOutcome> => {
  const { input, prepared } = ready;
  const outcome = await context.uow
    .transact<CreateOutcome | 'LOST_RACE'>(
      async (tx) => {
        const now = context.clock.now();
        const live = await tx.tasks.countLiveOf(input.tenantId);
        if (live.queued >= ready.tenant.queuedMax) {
          throw new RefusedInTransaction(
            refuse('QUEUE_FULL', `At most ${ready.tenant.queuedMax} generations may wait at once.`),
          );
        }
        const task = newTask(context, ready, now);
        const inserted = await tx.tasks.insert(task, openingMessages(context, task, now), now);
        // A concurrent first request with the same key committed before us: its task is the answer.
        if (inserted === 'EXISTS') return 'LOST_RACE';
        crashpoint('create.after_claim_before_reserve');
        // The account's row is every generation's of the tenant: taken last, it is held for the length of the commit.
        const [created] = await Promise.all([
          tx.tasks.read(task.id),
          recordVerdict(context, moderation, tx, task, ready.verdict, now),
          ready.verdict.verdict === 'APPROVE' ? reserve(context, tx, task, now) : null,
        ]);
        crashpoint('create.before_commit');
        if (created === null) throw new Error('The task just inserted cannot be read');
        return { kind: 'CREATED', task: created };
      },
      { line: 'create', subject: `${input.tenantId} ${input.idempotencyKey}` },
    )
    .catch((error: unknown) => {
      if (error instanceof RefusedInTransaction) return error.refusal;
      throw error;
    });
  if (outcome !== 'LOST_RACE') return outcome;
  const replay = await findReplay(context.uow.stores, input, prepared);
  if (replay === null) throw new Error('The task that took the idempotency key cannot be read');
  return replay;
};

const newTask = (context: FlowContext, ready: Commit, now: Date): NewTask => {
  const { input, prepared } = ready;
  const reviewed = ready.verdict.verdict === 'REVIEW';
  const request: GenerationRequest = {
    ...prepared.request,
    seed: seedOf(prepared.request, prepared.requestHash, input.idempotencyKey),
  };
  const step = (event: NewTask['path'][number]['event'], to: NewTask['path'][number]['to']) => ({
    event,
    to,
    eventId: context.ids.next(now),
  });
  return {
    id: context.ids.next(now),
    tenantId: input.tenantId,
    projectId: input.projectId,
    apiKeyId: input.apiKeyId,
    clientIdempotencyKey: input.idempotencyKey,
    requestHash: prepared.requestHash,
    quoteId: input.quoteId,
    requestedModel: prepared.offer.id,
    priority: PRIORITY_OF_TIER[ready.tenant.tier],
    priceMicros: ready.priced,
    reservedMicros: reviewed ? 0n : ready.priced,
    deadlineAt: new Date(now.getTime() + context.settings.taskDeadlineMs),
    traceId: input.traceId,
    request,
    inputs:
      request.imageAssetId === null
        ? []
        : [{ assetId: request.imageAssetId, role: 'REFERENCE_IMAGE' }],
    path: reviewed
      ? [
          step('created', 'CREATED'),
          step('validation_started', 'VALIDATING'),
          step('review_required', 'VALIDATING'),
        ]
      : [
          step('created', 'CREATED'),
          step('validation_started', 'VALIDATING'),
          step('validation_passed', 'QUOTA_RESERVED'),
          step('queued', 'QUEUED'),
        ],
  };
};

const openingMessages = (
  context: FlowContext,
  task: NewTask,
  now: Date,
): Parameters<Stores['tasks']['insert']>[1] => {
  const status = task.path[task.path.length - 1]?.to ?? 'CREATED';
  return [
    ...(status === 'QUEUED'
      ? [
          {
            eventId: context.ids.next(now),
            type: 'generation.queued' as const,
            payload: { taskId: task.id },
            availableAt: now,
          },
        ]
      : []),
    {
      eventId: context.ids.next(now),
      type: 'task.status.changed' as const,
      payload: { taskId: task.id, version: task.path.length, status, terminal: false },
      availableAt: now,
    },
  ];
};

const reserve = async (
  context: FlowContext,
  tx: Stores,
  task: NewTask,
  now: Date,
): Promise<void> => {
  const refusal = await reserveCredits(context, tx, task, now);
  if (refusal !== null) throw new RefusedInTransaction(refusal);
};

const recordVerdict = async (
  context: FlowContext,
  moderation: Moderation,
  tx: Stores,
  task: NewTask,
  verdict: ModerationVerdict,
  now: Date,
): Promise<void> => {
  await tx.moderation.record({
    id: context.ids.next(now),
    tenantId: task.tenantId,
    subjectKind: 'PROMPT',
    subjectId: task.id,
    verdict: verdict.verdict,
    reasonCode: verdict.verdict === 'APPROVE' ? null : verdict.reasonCode,
    rulesVersion: moderation.rulesVersion,
    decidedBy: 'rules',
    now,
  });
};

/** Rolls the creating transaction back and carries the refusal out of it: a refusal writes nothing. */
class RefusedInTransaction extends Error {
  constructor(readonly refusal: Refusal<CreateRefusal>) {
    super(refusal.code);
  }
}
