import type { SentFacts } from '../../domain/attempt/attempt';
import { mayPrecede } from '../../domain/generation/attempt-pairs';
import type { GenerationRequest, Task } from '../../domain/generation/task';
import { admissionScopesOf } from '../../domain/scheduling/admission';
import { judgeRetry } from '../../domain/scheduling/retry-budget';
import {
  accountLimitAt,
  chooseRoute,
  circuitStateOf,
  type Route,
} from '../../domain/scheduling/routing';
import { crashpoint } from '../../ports/crash-points';
import type { Envelope } from '../../ports/messages';
import { SlotsUnavailableError, type Slots, type SlotScope } from '../../ports/slots';
import type { Tenant } from '../../ports/stores/catalog-store';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';
import { giveSlotBack } from './give-slot-back';
import { applyEvent } from '../transition/apply-event';

export interface ScheduleDeps {
  readonly slots: Slots;
  /**
   * Unguessable: what the provider echoes and what its callbacks carry. Of task and number, and not of the attempt's id: a database
   * restored to before the attempt makes another id, and must find the job of the one it has forgotten.
   */
  readonly requestKeyOf: (taskId: string, attemptNo: number) => string;
  readonly callbackUrlOf: (providerId: string, requestKey: string) => string;
  /** Asks for a pass over the queue, soon and at most one at a time. */
  readonly requestPass: () => void;
}

export type DispatchOutcome =
  | { readonly kind: 'DISPATCHED'; readonly attemptId: string }
  | { readonly kind: 'WAITING'; readonly reason: string; readonly scope: string | null }
  | { readonly kind: 'ENDED'; readonly event: string }
  | { readonly kind: 'NOT_WAITING' };

interface Ready {
  readonly task: Task;
  readonly request: GenerationRequest;
  readonly tenant: Tenant;
  readonly imageSha256: string | null;
}

/**
 * Tries to give one waiting task an attempt: re-reads everything that may have changed since it was queued, takes slots on
 * four levels, then commits attempt NEW and task DISPATCHING with the message for the provider worker. A crash between
 * slot and commit leaks the slot until its lease is rebuilt, never a task.
 * @param message dedup row of the message that caused this, written in the same transaction
 */
export const dispatchTask = async (
  context: FlowContext,
  deps: ScheduleDeps,
  taskId: string,
  message: Envelope | null,
): Promise<DispatchOutcome> => {
  const ready = await prepare(context, taskId, message);
  if ('kind' in ready) return ready;
  const route = await routeOf(context, deps, ready);
  if (route.kind === 'NO_CAPABLE_MODEL')
    return endTask(context, taskId, 'no_capable_model', message);
  if (route.kind === 'WAIT') {
    return postpone(context, taskId, route.reason, null, route.until);
  }
  return claim(context, deps, ready, route, message);
};

const prepare = async (
  context: FlowContext,
  taskId: string,
  message: Envelope | null,
): Promise<Ready | DispatchOutcome> => {
  const { stores } = context.uow;
  const now = context.clock.now();
  const read = await stores.tasks.read(taskId);
  const task = read?.status === 'RETRY_WAIT' ? await requeueWhenDue(context, read) : read;
  if (task === null || task.status !== 'QUEUED') return { kind: 'NOT_WAITING' };
  if (task.deadlineAt <= now) return endTask(context, taskId, 'deadline_passed', message);
  if (task.submitTries > 0) {
    const verdict = judgeRetry('submit', {
      triesDone: task.submitTries,
      firstTryAt: task.startedAt ?? now,
      now,
      random: 0,
    });
    if (verdict.kind === 'SPENT')
      return endTask(context, taskId, 'submit_budget_exhausted', message);
  }
  const [request, tenant] = await Promise.all([
    stores.tasks.readRequest(taskId),
    stores.catalog.readTenant(task.tenantId),
  ]);
  if (request === null || tenant === null)
    throw new Error(`Task ${taskId} has lost its request or tenant`);
  if (tenant.status !== 'ACTIVE') return postpone(context, taskId, 'TENANT_PAUSED', null, null);
  const image =
    request.imageAssetId === null ? null : await stores.assets.read(request.imageAssetId);
  if (request.imageAssetId !== null && image?.status !== 'READY') {
    return endTask(context, taskId, 'input_withdrawn', message);
  }
  return { task, request, tenant, imageSha256: image?.sha256 ?? null };
};

/** RETRY_WAIT → QUEUED once its time has come; the deadline and a cancel were judged by others under the same lock. */
const requeueWhenDue = async (context: FlowContext, seen: Task): Promise<Task | null> => {
  if (seen.scheduleAt === null || seen.scheduleAt > context.clock.now()) return null;
  const requeued = await context.uow.transact(async (tx) => {
    const task = await tx.tasks.lock(seen.id);
    if (task === null || task.status !== 'RETRY_WAIT') return task;
    const applied = await applyEvent(context, tx, {
      task,
      attempt: null,
      event: { type: 'retry_due' },
      origin: { source: 'scheduler' },
    });
    return applied.task;
  });
  crashpoint('schedule.after_requeue_before_slot');
  return requeued;
};

const endTask = async (
  context: FlowContext,
  taskId: string,
  event: 'no_capable_model' | 'input_withdrawn' | 'submit_budget_exhausted' | 'deadline_passed',
  message: Envelope | null,
): Promise<DispatchOutcome> =>
  context.uow.transact(async (tx) => {
    if (!(await enter(context, tx, message))) return { kind: 'NOT_WAITING' };
    const task = await tx.tasks.lock(taskId);
    if (task === null || task.status !== 'QUEUED') return { kind: 'NOT_WAITING' };
    const attempts = await tx.attempts.listOfTask(taskId);
    const applied = await applyEvent(context, tx, {
      task,
      // The last attempt decides what is known of the charge.
      attempt: attempts.find((each) => each.attemptNo === task.currentAttemptNo) ?? null,
      event: { type: event },
      origin: { source: 'scheduler' },
      error: { class: 'SCHEDULING', code: CODE_OF[event] },
    });
    return applied.moved ? { kind: 'ENDED', event } : { kind: 'NOT_WAITING' };
  });

const CODE_OF = {
  no_capable_model: 'NO_CAPABLE_MODEL',
  input_withdrawn: 'INPUT_WITHDRAWN',
  submit_budget_exhausted: 'SUBMIT_BUDGET_EXHAUSTED',
  deadline_passed: 'DEADLINE_PASSED',
} as const;

const enter = async (
  context: FlowContext,
  tx: Stores,
  message: Envelope | null,
): Promise<boolean> =>
  message === null || tx.inbox.enter('scheduler', message.eventId, context.clock.now());

const postpone = async (
  context: FlowContext,
  taskId: string,
  reason: string,
  scope: string | null,
  until: Date | null,
): Promise<DispatchOutcome> => {
  const retryAt = new Date(context.clock.now().getTime() + context.settings.admissionRetryMs);
  await context.uow.stores.tasks.postpone(
    taskId,
    reason,
    until !== null && until > retryAt ? until : retryAt,
  );
  return { kind: 'WAITING', reason, scope };
};

const routeOf = async (context: FlowContext, deps: ScheduleDeps, ready: Ready): Promise<Route> => {
  const { catalog } = context.uow.stores;
  const [offers, accounts] = await Promise.all([catalog.listModels(), catalog.listAccounts()]);
  const usage = await deps.slots.usage(accounts.map((account) => `account:${account.id}`));
  return chooseRoute(
    ready.request,
    offers,
    accounts.map((account) => ({ ...account, inUse: usage[`account:${account.id}`] ?? 0 })),
    context.clock.now(),
  );
};

const scopesOf = (
  context: FlowContext,
  ready: Ready,
  route: Extract<Route, { kind: 'ROUTE' }>,
): SlotScope[] =>
  admissionScopesOf({
    platformMax: context.settings.platformConcurrentMax,
    providerId: route.offer.providerId,
    account: {
      id: route.account.id,
      limitMax: accountLimitAt(route.account, context.clock.now()),
    },
    tenant: { id: ready.tenant.id, limitMax: ready.tenant.inFlightMax },
  });

const claim = async (
  context: FlowContext,
  deps: ScheduleDeps,
  ready: Ready,
  route: Extract<Route, { kind: 'ROUTE' }>,
  message: Envelope | null,
): Promise<DispatchOutcome> => {
  const now = context.clock.now();
  const attemptId = context.ids.next(now);
  const slot = await acquireSlot(context, deps, attemptId, scopesOf(context, ready, route), now);
  if (slot === null) return postpone(context, ready.task.id, 'SLOTS_UNAVAILABLE', 'platform', null);
  if (slot.kind === 'FULL') {
    return postpone(context, ready.task.id, 'SLOTS_FULL', slot.scope, null);
  }
  crashpoint('schedule.after_slot_before_commit');
  let committed: Committed = 'NOT_WAITING';
  try {
    committed = await commitAttempt(
      context,
      deps,
      { ...ready, route, attemptId, token: slot.token },
      message,
    );
  } finally {
    if (committed !== 'DISPATCHED') await giveSlotBack(context, deps.slots, attemptId, slot.token);
  }
  if (committed === 'PROBED') {
    const until = new Date(now.getTime() + context.settings.submitLeaseMs);
    return postpone(context, ready.task.id, 'CIRCUIT_OPEN', null, until);
  }
  return committed === 'DISPATCHED' ? { kind: 'DISPATCHED', attemptId } : { kind: 'NOT_WAITING' };
};

/** Null where slots cannot be counted: rather nothing is sent than too much. */
const acquireSlot = async (
  context: FlowContext,
  { slots }: ScheduleDeps,
  attemptId: string,
  scopes: readonly SlotScope[],
  now: Date,
): Promise<Awaited<ReturnType<Slots['acquire']>> | null> => {
  try {
    return await slots.acquire(attemptId, scopes, context.settings.slotTtlMs, now);
  } catch (error) {
    if (!(error instanceof SlotsUnavailableError)) throw error;
    context.log.warn('dispatch pauses: slots cannot be counted', { error: error.message });
    return null;
  }
};

/** `PROBED`: another submit tries the half-open circuit already. */
type Committed = 'DISPATCHED' | 'NOT_WAITING' | 'PROBED';

const commitAttempt = async (
  context: FlowContext,
  deps: ScheduleDeps,
  claimed: Ready & {
    readonly route: Extract<Route, { kind: 'ROUTE' }>;
    readonly attemptId: string;
    readonly token: bigint;
  },
  message: Envelope | null,
): Promise<Committed> =>
  context.uow.transact<Committed>(
    async (tx) => {
      const [first, task] = await Promise.all([
        enter(context, tx, message),
        tx.tasks.lock(claimed.task.id),
      ]);
      if (!first || task === null || task.status !== 'QUEUED') return 'NOT_WAITING';
      const earlier = task.currentAttemptNo > 0 ? await tx.attempts.listOfTask(task.id) : [];
      // The last guard against a second submit: no road of the table leads here, but a row may have been edited.
      if (earlier.some(({ status }) => !mayPrecede(status))) {
        context.log.error('an earlier attempt may be alive; nothing is sent', { taskId: task.id });
        return 'NOT_WAITING';
      }
      if (!(await mayPassCircuit(context, tx, claimed.route))) return 'PROBED';
      const { offer, account } = claimed.route;
      // The newest need not be the current one: an earlier one may have been adopted, and have failed since.
      const attemptNo = earlier.length + 1;
      const requestKey = deps.requestKeyOf(task.id, attemptNo);
      const [inserted, attempt] = await Promise.all([
        tx.attempts.insert(
          {
            id: claimed.attemptId,
            tenantId: task.tenantId,
            taskId: task.id,
            attemptNo,
            providerId: offer.providerId,
            accountId: account.id,
            model: offer.providerModel,
            requestKey,
            callbackUrl: deps.callbackUrlOf(offer.providerId, requestKey),
            sent: sentFactsOf(claimed),
            slotToken: claimed.token,
          },
          context.clock.now(),
        ),
        tx.attempts.read(claimed.attemptId),
      ]);
      if (inserted === 'EXISTS') return 'NOT_WAITING';
      const applied = await applyEvent(context, tx, {
        task,
        attempt,
        event: { type: 'dispatch_claimed' },
        origin: { source: 'scheduler' },
        taskPatch: { selectedProvider: offer.providerId, selectedAccount: account.id },
      });
      // Rolled back as a whole: an attempt that its task does not know would be sent by whoever finds it.
      if (!applied.moved) throw new Error(`Task ${task.id} did not take its new attempt`);
      crashpoint('schedule.after_attempt_before_commit');
      return 'DISPATCHED';
    },
    { line: 'schedule', subject: claimed.task.id },
  );

/** A circuit that was open is tried with one submit: the others wait for what it comes to, or for its time to run out. */
const mayPassCircuit = async (
  context: FlowContext,
  tx: Stores,
  { account }: Extract<Route, { kind: 'ROUTE' }>,
): Promise<boolean> => {
  const now = context.clock.now();
  if (circuitStateOf(account, now) === 'CLOSED') return true;
  const until = new Date(now.getTime() + context.settings.submitLeaseMs);
  return tx.catalog.claimProbe(account.id, until, now);
};

const sentFactsOf = (
  claimed: Ready & { readonly route: Extract<Route, { kind: 'ROUTE' }> },
): SentFacts => ({
  endpoint: claimed.route.offer.providerModel,
  prompt: claimed.request.prompt,
  negativePrompt: claimed.request.negativePrompt,
  seed: claimed.request.seed,
  aspectRatio: claimed.request.aspectRatio,
  resolution: claimed.request.resolution,
  durationMs: claimed.request.durationMs,
  withAudio: claimed.request.withAudio,
  imageAssetId: claimed.request.imageAssetId,
  imageSha256: claimed.imageSha256,
  priceMicros: claimed.task.priceMicros.toString(),
  costPerSecond: claimed.route.offer.costPerSecond,
  costCurrency: claimed.route.offer.costCurrency,
  options: claimed.request.providerOptions,
});
