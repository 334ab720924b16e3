import type { Task } from '../../domain/generation/task';
import { admissionScopesOf } from '../../domain/scheduling/admission';
import { placeInLine } from '../../domain/scheduling/place-in-line';
import { accountLimitAt, chooseRoute, type Route } from '../../domain/scheduling/routing';
import type { Slots } from '../../ports/slots';
import type { Candidate } from '../../ports/stores/task-store';
import type { FlowContext } from '../flow-context';
import { scheduleHorizon } from '../schedule/run-scheduler';
import { waitInWords, type Wait, type WaitReason } from './wait-words';

type Facts = Omit<Wait, 'text' | 'since'>;

const paused = (reason: WaitReason, until: Date | null): Facts => ({
  reason,
  until,
  limit: null,
  position: null,
  estimateMs: null,
});

/**
 * Why a generation waits, asked of what the scheduler itself asks: its line, its routing, its limits. Null when it waits for
 * no admission.
 */
export const explainWait = async (
  context: FlowContext,
  slots: Slots,
  task: Task,
): Promise<Wait | null> => {
  const facts = await factsOf(context, slots, task);
  if (facts === null) return null;
  const now = context.clock.now();
  return {
    ...facts,
    text: waitInWords(facts, now),
    since: task.waitingSince ?? task.createdAt,
  };
};

const factsOf = async (context: FlowContext, slots: Slots, task: Task): Promise<Facts | null> => {
  if (task.status === 'VALIDATING') return paused('REVIEW', null);
  if (task.status !== 'QUEUED' && task.status !== 'RETRY_WAIT') return null;
  const { stores } = context.uow;
  const [request, tenant, offers, accounts, line] = await Promise.all([
    stores.tasks.readRequest(task.id),
    stores.catalog.readTenant(task.tenantId),
    stores.catalog.listModels(),
    stores.catalog.listAccounts(),
    stores.tasks.readLine(scheduleHorizon(context)),
  ]);
  if (request === null || tenant === null) return null;
  const now = context.clock.now();
  if (tenant.status !== 'ACTIVE') return paused('TENANT_PAUSED', null);
  if (task.nextRetryAt !== null && task.nextRetryAt > now) {
    return paused('RETRY_WAIT', task.nextRetryAt);
  }
  if (task.waitReason === 'SLOTS_UNAVAILABLE') return paused('SLOTS_UNAVAILABLE', null);
  const inUse = await slots.usage([
    'platform',
    ...new Set(offers.map(({ providerId }) => `provider:${providerId}`)),
    ...accounts.map(({ id }) => `account:${id}`),
    ...tenantScopesOf(line),
    `tenant:${tenant.id}`,
  ]);
  const route = chooseRoute(
    request,
    offers,
    accounts.map((account) => ({ ...account, inUse: inUse[`account:${account.id}`] ?? 0 })),
    now,
  );
  if (route.kind === 'WAIT') return paused(route.reason, route.until);
  if (route.kind === 'NO_CAPABLE_MODEL') return paused('PROVIDER_PAUSED', null);
  return placeOf(context, task, { route, tenant, line, inUse, offers });
};

const tenantScopesOf = (line: readonly Candidate[]): string[] => [
  ...new Set(line.map(({ tenantId }) => `tenant:${tenantId}`)),
];

interface Admission {
  readonly route: Extract<Route, { kind: 'ROUTE' }>;
  readonly tenant: { readonly id: string; readonly inFlightMax: number };
  readonly line: readonly Candidate[];
  readonly inUse: Readonly<Record<string, number>>;
  readonly offers: readonly { readonly id: string; readonly providerId: string }[];
}

const placeOf = async (context: FlowContext, task: Task, given: Admission): Promise<Facts> => {
  const { offer, account } = given.route;
  const providerOf = new Map(given.offers.map(({ id, providerId }) => [id, providerId]));
  const place = placeInLine(task.id, {
    line: given.line,
    scopes: admissionScopesOf({
      platformMax: context.settings.platformConcurrentMax,
      providerId: offer.providerId,
      account: { id: account.id, limitMax: accountLimitAt(account, context.clock.now()) },
      tenant: { id: given.tenant.id, limitMax: given.tenant.inFlightMax },
    }),
    inUse: given.inUse,
    competes: (model) => providerOf.get(model) === offer.providerId,
    meanHeldMs: await context.uow.stores.attempts.meanHeldMs(account.id),
  });
  return { reason: place.limit === null ? 'IN_LINE' : 'LIMIT_REACHED', until: null, ...place };
};
