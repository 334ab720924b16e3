/** One edit of a source file; `from` must stand in it exactly `times` times. */
interface Edit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly times?: number;
}

/** A defect as it is really made, and the smallest scenario that must catch it. */
export interface Mutant {
  readonly name: string;
  /** What the product then does wrong. */
  readonly does: string;
  readonly edits: readonly Edit[];
  readonly scenario: { readonly file: string; readonly test: string };
}

const SQL = 'src/adapters/postgres/sql';
const SANDBOX = 'src/adapters/provider/sandbox';

/**
 * Defects that others have shipped. They are edits of the source that only a test run sees, so the product holds no switch by
 * which a guard could be turned off.
 */
export const MUTANTS: readonly Mutant[] = [
  {
    name: 'relay-by-id-cursor',
    does: 'moves only outbox rows behind the last id that was moved, and misses one that commits late',
    edits: [
      {
        file: `${SQL}/move-outbox-events-if-due.sql`,
        from: 'AND e.type = ANY (:types::text[])',
        to: `AND e.type = ANY (:types::text[])
    AND NOT EXISTS (SELECT 1 FROM outbox_events p WHERE p.status = 'PUBLISHED' AND p.id > e.id)`,
      },
    ],
    scenario: {
      file: 'test/flow/03-relay/postgres-outbox-mover.test.ts',
      test: 'finds a row whose transaction began first and committed last',
    },
  },
  {
    name: 'no-inbox',
    does: 'applies a message again when it is delivered again',
    edits: [
      {
        file: 'src/flow/consume.ts',
        from: 'if (!(await entered)) throw new RepeatedDelivery();',
        to: '',
      },
    ],
    scenario: {
      file: 'test/flow/07-reduce/reduce.test.ts',
      test: 'the inbox of reducer stops a repeat',
    },
  },
  {
    name: 'release-without-token',
    does: 'gives a slot back for whoever names its holder, fenced or not',
    edits: [
      {
        file: `${SQL}/release-slot-lease-if-held.sql`,
        from: 'AND token = :token::bigint',
        to: 'AND :token::bigint IS NOT NULL',
        times: 2,
      },
    ],
    scenario: {
      file: 'test/contract/slots/postgres.test.ts',
      test: 'cannot be touched by a paused holder that wakes when it has been given a new one',
    },
  },
  {
    name: 'balance-from-the-ledger',
    does: 'takes the balance from the ledger rows it sees instead of the locked account row',
    edits: [
      {
        file: `${SQL}/open-hold.sql`,
        from: 'SET available_micros = available_micros - :amountMicros::bigint,',
        to: `SET available_micros = (SELECT sum(available_delta) FROM credit_ledger WHERE tenant_id = :tenantId)
      - :amountMicros::bigint,`,
      },
    ],
    scenario: {
      file: 'test/integration/postgres/money-store.test.ts',
      test: 'that waited for another generation of its tenant sees what that one took',
    },
  },
  {
    name: 'second-close',
    does: 'closes a hold that is closed, under a key of its own each time',
    edits: [
      {
        file: `${SQL}/close-hold.sql`,
        from: "WHERE task_id = :taskId AND status = 'OPEN' AND amount_micros = :settleMicros",
        to: 'WHERE task_id = :taskId AND amount_micros = :settleMicros',
      },
      {
        file: 'src/adapters/postgres/stores/money-store.ts',
        from: 'settleKey: ledgerKeys.settle(input.taskId)',
        to: 'settleKey: ledgerKeys.settle(input.taskId) + input.settleEntryId',
      },
      {
        file: 'src/adapters/postgres/stores/money-store.ts',
        from: 'releaseKey: ledgerKeys.release(input.taskId)',
        to: 'releaseKey: ledgerKeys.release(input.taskId) + input.releaseEntryId',
      },
    ],
    scenario: {
      file: 'test/integration/postgres/money-store.test.ts',
      test: 'settles once, though another hold of the tenant would bear a second time',
    },
  },
  {
    name: 'hold-outcome-ignored',
    does: 'creates a generation whether or not its price could be reserved',
    edits: [
      {
        file: 'src/flow/bill/reserve-credits.ts',
        from: "    case 'INSUFFICIENT_CREDITS':\n      return refuse(",
        to: "    case 'INSUFFICIENT_CREDITS':\n      return null;\n      return refuse(",
      },
    ],
    scenario: {
      file: 'test/flow/02-create/create.test.ts',
      test: '32 times at once on a balance for 2 is accepted exactly twice',
    },
  },
  {
    name: 'blind-resubmit',
    does: 'takes a submit without an answer for one that never left, and sends another',
    edits: [
      {
        file: `${SANDBOX}/submit.ts`,
        from: "case 'NOT_SENT':",
        to: "case 'NOT_SENT':\n    case 'NO_ANSWER':",
      },
    ],
    scenario: {
      file: 'test/flow/05-submit/submit.test.ts',
      test: 'leaves one job, an unknown attempt and one hold',
    },
  },
  {
    name: '502-as-not-created',
    does: 'takes a gateway’s 502 for the provider’s own refusal',
    edits: [
      {
        file: `${SANDBOX}/submit.ts`,
        from: 'if (status < 500 || status === 500 || status === 503) return null;',
        to: 'if (status < 500 || status === 500 || status === 502 || status === 503) return null;',
      },
    ],
    scenario: { file: 'test/flow/05-submit/submit.test.ts', test: 'as answer_502 is unknown' },
  },
  {
    name: 'attempt-written-after-the-send',
    does: 'sends first and notes afterwards that it was sent',
    edits: [
      {
        file: 'src/flow/submit/submit-attempt.ts',
        from: "const sending = await tx.attempts.patch(attempt, 'SENDING', lease, now);",
        to: 'const sending = { ...attempt, ...lease };',
      },
    ],
    scenario: {
      file: 'test/flow/05-submit/submit.test.ts',
      test: 'between the database and the POST leaves SENDING',
    },
  },
  {
    name: 'retry-after-ignored',
    does: 'comes back before the provider has said',
    edits: [
      {
        file: `${SANDBOX}/submit.ts`,
        from: 'retryAfterMs: readRetryAfterMs(answer.headers, now),',
        to: 'retryAfterMs: null,',
      },
    ],
    scenario: {
      file: 'test/contract/provider-gateway/sandbox.test.ts',
      test: 'obeys Retry-After of a throttled submit',
    },
  },
  {
    name: 'absence-at-first-sight',
    does: 'believes that a submit made no job as soon as the list does not show one',
    edits: [
      {
        file: 'src/flow/reconcile/resolve-unknown.ts',
        from: 'now.getTime() - Math.max(absentSince.getTime(), settledAtMs) >= provider.absenceGraceMs',
        to: 'true',
      },
    ],
    scenario: {
      file: 'test/flow/12-reconcile/reconcile.test.ts',
      test: 'finds a job that appears in the list late, within the grace',
    },
  },
  {
    name: 'nearest-match',
    does: 'takes the first of two candidates for an unknown submit',
    edits: [
      {
        file: `${SANDBOX}/reconcile.ts`,
        from: 'if (others.length > 0) {',
        to: 'if (others.length > 99) {',
      },
    ],
    scenario: {
      file: 'test/contract/provider-gateway/sandbox.test.ts',
      test: 'does not decide between two jobs of one key',
    },
  },
  {
    name: 'signature-over-reserialised-json',
    does: 'checks a callback’s signature over the parsed body written again',
    edits: [
      {
        file: 'src/adapters/provider/http/standard-webhooks.ts',
        from: '[sign(key, webhookId, timestamp, rawBody)]',
        to: '[sign(key, webhookId, timestamp, Buffer.from(JSON.stringify(JSON.parse(rawBody.toString()))))]',
      },
    ],
    scenario: {
      file: 'test/contract/provider-gateway/sandbox.test.ts',
      test: 'refuses a body that was parsed and written again',
    },
  },
  {
    name: 'stale-callback-accepted',
    does: 'accepts a callback however old its signature is',
    edits: [
      {
        file: 'src/adapters/provider/http/standard-webhooks.ts',
        from: 'if (driftSeconds > TOLERANCE_SECONDS)',
        to: 'if (driftSeconds > TOLERANCE_SECONDS * 1_000)',
      },
    ],
    scenario: {
      file: 'test/flow/06-observe/observe.test.ts',
      test: 'that nobody signed, or signed too long ago, are refused and store nothing',
    },
  },
  {
    name: 'dedup-over-job-and-status',
    does: 'takes two observations of one status for one',
    edits: [
      {
        file: 'src/flow/observe/record-observation.ts',
        from: 'sourceEventId: sighting.sourceEventId ?? secondOf(sighting, digestOf(sighting)),',
        to: 'sourceEventId: sighting.observation.jobId + sighting.observation.rawStatus,',
      },
    ],
    scenario: {
      file: 'test/flow/06-observe/observe.test.ts',
      test: 'never moves progress back, nor to the end before the end',
    },
  },
  {
    name: 'message-written-after-the-commit',
    does: 'commits what a provider said first, and the message for the reducer in a transaction of its own',
    edits: [
      {
        file: 'src/flow/observe/record-observation.ts',
        from: "if (inserted === 'CREATED') await requestObservation(context, tx, id, null);",
        to: `if (inserted === 'CREATED') {
      setTimeout(() => void context.uow.transact((later) => requestObservation(context, later, id, null)), 1);
    }`,
      },
    ],
    scenario: {
      file: 'test/flow/06-observe/observe.test.ts',
      test: 'is written together with its message, or not at all',
    },
  },
  {
    name: 'progress-100-as-success',
    does: 'takes a job that says 100 % for one that has ended',
    edits: [
      {
        file: 'src/flow/reduce/reduce-observation.ts',
        from: 'job: observation.status,',
        to: "job: (observation.progress ?? 0) >= 100 ? 'SUCCEEDED' : observation.status,",
      },
    ],
    scenario: {
      file: 'test/flow/06-observe/observe.test.ts',
      test: 'never moves progress back, nor to the end before the end',
    },
  },
  {
    name: 'poll-500-ends-the-task',
    does: 'takes an error of a poll for the provider’s verdict on the job',
    edits: [
      {
        file: `${SANDBOX}/gateway.ts`,
        from: 'if (exchange.status !== 200) return this.unavailable(exchange);\n    const raw',
        to: `if (exchange.status === 500) return { kind: 'FOUND', observation: observeJob({ id: jobId, status: 'failed', created_at: '' } as never), raw: null };
    const raw`,
      },
    ],
    scenario: {
      file: 'test/flow/06-observe/observe.test.ts',
      test: 'never fails a task for polls that fail, and sees the success behind them',
    },
  },
  {
    name: 'terminal-overwritten',
    does: 'lets a late success move a generation that has ended',
    edits: [
      {
        file: 'src/domain/generation/decide-observation.ts',
        from: "  if (isTerminal(facts.status)) {\n    return ignore('TERMINAL',",
        to: "  if (isTerminal(facts.status)) {\n    if (attemptTo === 'SUCCEEDED') return move(facts, 'provider_succeeded', 'OUTPUT_FETCHING', { attemptTo });\n    return ignore('TERMINAL',",
      },
      {
        file: 'src/domain/generation/decision.ts',
        from: "if (!targetsOf(at, step.event).includes(step.to)) return ignore('NOT_LISTED');",
        to: '',
      },
    ],
    scenario: {
      file: 'test/unit/domain/generation/law.test.ts',
      test: 'leaves a terminal only in name',
    },
  },
  {
    name: 'canceled-on-click',
    does: 'writes CANCELED when a cancel is asked for, while the job runs on',
    edits: [
      {
        file: 'src/domain/generation/decide.ts',
        from: "      return move(facts, 'cancel_requested', 'CANCEL_REQUESTED', {\n        effects: [{ kind: 'REQUEST_CANCEL' }],\n      });\n    case 'DISPATCHING':",
        to: "      return move(facts, 'cancel_requested', 'CANCELED', { effects: [CLOSE_HOLD], cancelOutcome: 'CONFIRMED' });\n    case 'DISPATCHING':",
      },
    ],
    scenario: {
      file: 'test/unit/domain/generation/task-table.test.ts',
      test: '',
    },
  },
  {
    name: 'version-not-compared',
    does: 'moves a task that somebody else has moved meanwhile',
    edits: [
      {
        file: `${SQL}/move-task.sql`,
        from: 'AND t.version = :version AND',
        to: 'AND :version::integer > 0 AND',
      },
    ],
    scenario: {
      file: 'test/integration/postgres/task-store.test.ts',
      test: 'does nothing when the status is right and the version is not',
    },
  },
  {
    name: 'hold-closed-outside',
    does: 'closes the hold in a transaction of its own',
    edits: [
      {
        file: 'src/flow/transition/apply-event.ts',
        from: 'const outcome = await tx.money.closeHold({',
        to: 'const outcome = await context.uow.stores.money.closeHold({',
      },
    ],
    scenario: {
      file: 'test/flow/07-reduce/reduce.test.ts',
      test: 'that dies before its commit has changed nothing of its money',
    },
  },
  {
    name: 'refund-without-the-sum',
    does: 'compares each refund with the settled amount, and not all of them together',
    edits: [
      {
        file: `${SQL}/refund-credits.sql`,
        from: `coalesce(settled_micros, 0) - (
    SELECT coalesce(sum(available_delta), 0) FROM credit_ledger
    WHERE task_id = :taskId AND kind IN ('REFUND', 'ADJUSTMENT')
  ) AS left_micros`,
        to: 'coalesce(settled_micros, 0) AS left_micros',
      },
    ],
    scenario: {
      file: 'test/integration/postgres/money-store.test.ts',
      test: 'never exceeds what was settled, whatever its keys',
    },
  },
  {
    name: 'charged-above-the-quote',
    does: 'hands on to the tenant what the provider charged above the price',
    edits: [
      {
        file: 'src/domain/billing/settlement.ts',
        from: 'minMicros(amount < 0n ? 0n : amount, input.heldMicros)',
        to: 'amount',
      },
    ],
    scenario: {
      file: 'test/unit/domain/billing/settlement.test.ts',
      test: 'never takes more than the quote, even for a delivery that is worth more',
    },
  },
  {
    name: 'booked-cost-rewritten',
    does: 'overwrites what was booked with a cost that is told later',
    edits: [
      {
        file: 'src/flow/reduce/reduce-observation.ts',
        from: 'charge === null || knownCharge(attempt) !== null',
        to: 'charge === null',
      },
    ],
    scenario: {
      file: 'test/flow/07-reduce/reduce.test.ts',
      test: 'that is booked stays when another is told later, and the platform must look',
    },
  },
  {
    name: 'slot-never-freed',
    does: 'keeps the slot of an attempt that has ended',
    edits: [
      {
        file: 'src/flow/schedule/free-slot.ts',
        from: 'if (!ended.freeSlot ||',
        to: 'if (ended.freeSlot !== undefined ||',
      },
    ],
    scenario: {
      file: 'test/flow/07-reduce/reduce.test.ts',
      test: 'releases once for five failed callbacks and a poll',
    },
  },
  {
    name: 'acknowledged-by-anybody',
    does: 'lets a worker whose lease is over acknowledge what another one has in hand',
    edits: [
      {
        file: `${SQL}/acknowledge-bus-messages-if-leased.sql`,
        from: 'WHERE m.id = held.id AND m.lease_token = held.lease_token',
        to: 'WHERE m.id = held.id',
      },
    ],
    scenario: {
      file: 'test/contract/message-bus/postgres.test.ts',
      test: 'ignore an acknowledgement that comes when somebody else has the message',
    },
  },
  {
    name: 'request-hash-not-compared',
    does: 'answers another request under the same key with the original',
    edits: [
      {
        file: 'src/flow/create/create-generation.ts',
        from: 'return original.requestHash === prepared.requestHash',
        to: 'return original.requestHash !== null',
      },
    ],
    scenario: {
      file: 'test/flow/02-create/create.test.ts',
      test: 'with one key and different bodies at once has one winner',
    },
  },
  {
    name: 'tenant-not-in-the-key',
    does: 'finds another tenant’s generation by its idempotency key',
    edits: [
      {
        file: `${SQL}/find-task-by-idempotency-key.sql`,
        from: 'WHERE tenant_id = :tenantId AND client',
        to: 'WHERE :tenantId::uuid IS NOT NULL AND client',
      },
    ],
    scenario: {
      file: 'test/flow/02-create/create.test.ts',
      test: 'keeps the keys of tenants apart',
    },
  },
  {
    name: 'tenant-not-asked-on-cancel',
    does: 'cancels a generation for whoever knows its id',
    edits: [
      {
        file: 'src/flow/create/cancel-generation.ts',
        from: 'if (task === null || task.tenantId !== input.tenantId) return null;',
        to: 'if (task === null) return null;',
      },
    ],
    scenario: {
      file: 'test/flow/04-schedule/schedule.test.ts',
      test: 'of a pending task touches no running one, of the same or another tenant',
    },
  },
  {
    name: 'output-overwritten',
    does: 'replaces another object that stands at the key of an output',
    edits: [
      {
        file: 'src/adapters/object-store/disk/write-object.ts',
        from: "if (!equal) return { sizeBytes, sha256, outcome: 'conflict', standing: bytesOf(standing) };",
        to: "if (!equal) await rm(join(bytesPath(layout, standing), '..'), { recursive: true, force: true });",
      },
    ],
    scenario: {
      file: 'test/flow/08-fetch/fetch.test.ts',
      test: 'never overwrites another object at its key',
    },
  },
  {
    name: 'output-adopted-by-key',
    does: 'takes whatever stands at the key of an output for its own work, without comparing it',
    edits: [
      {
        file: 'src/flow/fetch/fetch-output.ts',
        from: 'if (stored !== null && isOwnWrite(attempt, stored)) {',
        to: 'if (stored !== null) {',
      },
    ],
    scenario: {
      file: 'test/flow/08-fetch/foreign-object.test.ts',
      test: 'before anything was fetched is somebody else’s',
    },
  },
  {
    name: 'raw-bytes-believed',
    does: 'makes playable what stands at the raw key, by the digest that is noted beside it',
    edits: [
      {
        file: 'src/flow/media/process-media.ts',
        from: 'if (sha256 !== raw.sha256) {',
        to: 'if (stored.head.sha256 !== raw.sha256) {',
      },
    ],
    scenario: {
      file: 'test/flow/09-media/media.test.ts',
      test: 'never makes bytes playable that were not fetched',
    },
  },
  {
    name: 'redirect-not-judged',
    does: 'follows a redirect to any host',
    edits: [
      {
        file: 'src/adapters/fetch-guard/guarded-fetcher.ts',
        from: 'await judgeTarget(next, base, rules);',
        to: "await judgeTarget(next, base, base === undefined ? rules : { ...rules, allowedHosts: 'any' });",
      },
    ],
    scenario: {
      file: 'test/integration/fetch-guard/guarded-fetcher.test.ts',
      test: 'to a host outside the list are refused',
    },
  },
];
