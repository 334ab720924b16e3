import type { ProviderAccount, ProviderGateway, ListedJob } from '../../ports/provider-gateway';
import type { FlowContext } from '../flow-context';
import { act, done, type OperatorOrder } from './operator-action';

export interface AfterRestoreDeps {
  readonly gatewayOrNull: (providerId: string) => Pick<ProviderGateway, 'list' | 'cancel'> | null;
  readonly accountOf: (accountId: string) => Promise<ProviderAccount>;
  readonly requestKeyOf: (taskId: string, attemptNo: number) => string;
}

export interface UntrackedJob {
  readonly jobId: string;
  readonly requestKey: string | null;
  readonly status: string;
  /** What the provider said to the cancel; null: it was not asked. */
  readonly cancel: string | null;
}

export interface AfterRestore {
  readonly republished: number;
  /** Jobs of the provider's lists. */
  readonly listed: number;
  /** Of generations that still wait: their submit asks for the job before anything is sent. */
  readonly awaited: number;
  /** Made with the account, but not by a submit of this product. */
  readonly foreign: number;
  readonly untracked: readonly UntrackedJob[];
  /** Accounts whose list could not be had, with the provider's word. */
  readonly unseen: readonly { readonly accountId: string; readonly code: string }[];
}

/**
 * What an operator has done once a database came back from the past: says so to the database, publishes again what a bus may take
 * for handled, and compares the providers' lists with the attempts. A job of a generation that is forgotten, or has ended without it,
 * is a finding, since somebody pays for it. May be repeated; the later one sees what has ended since.
 * @param since before the instant to which the database was restored
 */
export const afterRestore = async (
  context: FlowContext,
  deps: AfterRestoreDeps,
  { since, cancel, order }: { since: Date; cancel: boolean; order: OperatorOrder },
): Promise<AfterRestore | { readonly refused: string }> => {
  const told = await act(
    context,
    'database.restored',
    order,
    () =>
      Promise.resolve({
        kind: 'DATABASE',
        id: 'database',
        tenantId: null,
        before: null,
        row: null,
      }),
    async (tx) => {
      const now = context.clock.now();
      await tx.lives.declareRestored(order.actor, now);
      const republished = await tx.outbox.publishUnhandledAgain(since, now);
      return done(republished, { since: since.toISOString(), republished });
    },
  );
  if (told.kind === 'REFUSED') return { refused: told.message };
  const report = { listed: 0, awaited: 0, foreign: 0 };
  const untracked: UntrackedJob[] = [];
  const unseen: { accountId: string; code: string }[] = [];
  for (const { id, providerId } of await context.uow.stores.catalog.listAccounts()) {
    const gateway = deps.gatewayOrNull(providerId);
    if (gateway === null) {
      unseen.push({ accountId: id, code: 'NO_ADAPTER' });
      continue;
    }
    const account = await deps.accountOf(id);
    const list = await gateway.list(account, since);
    if (list.kind === 'UNAVAILABLE') {
      unseen.push({ accountId: id, code: list.code });
      continue;
    }
    report.listed += list.jobs.length;
    for (const job of await withoutAttempt(context, providerId, list.jobs)) {
      const { jobId, status, echoedRequestKey } = job.observation;
      const submit = readKey(deps, echoedRequestKey);
      if (submit === null) {
        report.foreign += 1;
      } else if (await mayStillAsk(context, submit)) {
        report.awaited += 1;
      } else {
        const isLive = status === 'QUEUED' || status === 'RUNNING';
        const said = cancel && isLive ? (await gateway.cancel(account, jobId)).kind : null;
        await writeDown(context, job, { accountId: id, providerId, taskId: submit.taskId, said });
        untracked.push({ jobId, requestKey: echoedRequestKey, status, cancel: said });
      }
    }
  }
  return { republished: told.result, ...report, untracked, unseen };
};

const withoutAttempt = async (
  context: FlowContext,
  providerId: string,
  jobs: readonly ListedJob[],
): Promise<readonly ListedJob[]> => {
  const keys = jobs.flatMap(({ observation }) => observation.echoedRequestKey ?? []);
  const jobIds = jobs.map(({ observation }) => observation.jobId);
  const known = await context.uow.stores.invoices.listAttempts(providerId, jobIds, keys);
  const bound = new Set(known.flatMap(({ jobId, requestKey }) => [jobId, requestKey]));
  return jobs.filter(
    ({ observation: { jobId, echoedRequestKey } }) =>
      !bound.has(jobId) && !bound.has(echoedRequestKey),
  );
};

interface Submit {
  readonly taskId: string;
  readonly attemptNo: number;
}

const KEY = /^([0-9a-f-]{36})\.(\d{1,6})\./;

/** Null: no submit of this product made that key. */
const readKey = (
  { requestKeyOf }: Pick<AfterRestoreDeps, 'requestKeyOf'>,
  key: string | null,
): Submit | null => {
  const [, taskId, number] = KEY.exec(key ?? '') ?? [];
  if (taskId === undefined || number === undefined) return null;
  const attemptNo = Number(number);
  return requestKeyOf(taskId, attemptNo) === key ? { taskId, attemptNo } : null;
};

/** A generation that has not come so far yet asks for this job when it does. */
const mayStillAsk = async (
  context: FlowContext,
  { taskId, attemptNo }: Submit,
): Promise<boolean> => {
  const task = await context.uow.stores.tasks.read(taskId);
  return task !== null && MAY_SUBMIT.includes(task.status) && task.currentAttemptNo < attemptNo;
};

const MAY_SUBMIT: readonly string[] = [
  'CREATED',
  'VALIDATING',
  'QUOTA_RESERVED',
  'QUEUED',
  'DISPATCHING',
  'SUBMIT_UNKNOWN',
  'SUBMITTED',
  'RUNNING',
  'RETRY_WAIT',
];

const writeDown = async (
  context: FlowContext,
  { observation, createdAt }: ListedJob,
  about: {
    readonly providerId: string;
    readonly accountId: string;
    readonly taskId: string;
    readonly said: string | null;
  },
): Promise<void> => {
  const now = context.clock.now();
  await context.uow.stores.findings.record({
    id: context.ids.next(now),
    kind: 'UNTRACKED_PROVIDER_JOB',
    subjectKind: 'provider_job',
    subjectId: observation.jobId,
    tenantId: null,
    detail: {
      providerId: about.providerId,
      accountId: about.accountId,
      taskId: about.taskId,
      requestKey: observation.echoedRequestKey,
      status: observation.status,
      charge: observation.charge,
      createdAt: createdAt.toISOString(),
    },
    actionTaken: about.said === null ? null : `cancel: ${about.said}`,
    now,
  });
};
