import { rescueSettlements } from '../../../src/flow/bill/settle-later';
import { rescueCosts } from '../../../src/flow/reconcile/find-anomalies';
import {
  createOrphanMatcher,
  rescueValidations,
} from '../../../src/flow/reconcile/recover-resources';
import { recoverLostLeases, rescueStuck } from '../../../src/flow/reconcile/recover-tasks';
import { groupsOf, MESSAGE_TYPES, type MessageType } from '../../../src/ports/messages';
import { useFlow, type Flow } from '../../support/flow-harness';
import { onlyProxy } from '../../support/flow/expectations';
import { makePicture, readAsset, uploadBytes } from '../../support/flow/uploads';

const open = useFlow();

interface LostMessage {
  /** Brings the flow to where the message is on the bus and its outbox row is marked; answers the id that `done` asks about. */
  readonly prepare: (flow: Flow) => Promise<string>;
  /** What a worker does by itself, from Postgres alone; answers how much it did. */
  readonly rescue: (flow: Flow) => Promise<number>;
  /** Holds once what the message asked for is done. */
  readonly done: (flow: Flow, id: string) => Promise<boolean>;
}

const recover = async ({ context, slots }: Flow): Promise<number> =>
  (await rescueStuck(context)) + (await recoverLostLeases(context, slots));

const statusIs =
  (...statuses: readonly string[]) =>
  async (flow: Flow, id: string): Promise<boolean> =>
    statuses.includes((await flow.task(id)).status);

const fetchable = async (flow: Flow): Promise<string> => {
  const { id } = await flow.submit();
  await flow.finishJob(id);
  await flow.relay();
  return id;
};

/** Ends while the ledger is locked, so that its settlement is left to a message. */
const endWithoutLedger = async (flow: Flow): Promise<string> => {
  const { id } = await flow.create();
  const client = await flow.database.pool.connect();
  await client.query('BEGIN');
  await client.query('SELECT 1 FROM accounts WHERE tenant_id = $1 FOR UPDATE', [flow.tenantId]);
  try {
    await flow.cancel(id);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
  await flow.relay();
  return id;
};

/** Nobody needs it: who follows a row reads it every few seconds anyway (test/integration/api/subscriptions.test.ts). */
const NOT_NEEDED = 'read by whoever follows the row';

/** A type that is added must say here who makes up for its loss. */
const LOST: Readonly<Record<MessageType, LostMessage | typeof NOT_NEEDED>> = {
  'asset.validation.requested': {
    prepare: async (flow) => {
      const id = await uploadBytes(flow, await makePicture());
      await flow.relay();
      return id;
    },
    rescue: ({ context }) => rescueValidations(context),
    done: async (flow, id) => (await readAsset(flow, id)).status === 'READY',
  },
  'generation.queued': {
    prepare: async (flow) => {
      const { id } = await flow.create();
      await flow.relay();
      return id;
    },
    rescue: async (flow) => (await flow.runPass()).dispatched,
    done: statusIs('SUBMITTED'),
  },
  'attempt.dispatch.requested': {
    prepare: async (flow) => {
      const { id } = await flow.create();
      await flow.relay();
      await flow.deliver('scheduler');
      await flow.relay();
      return id;
    },
    rescue: recover,
    done: statusIs('SUBMITTED'),
  },
  'attempt.cancel.requested': {
    prepare: async (flow) => {
      const { id } = await flow.submit({
        fault: 'cancel_slow',
        faultParams: { cancel_ms: 60_000 },
      });
      await flow.cancel(id);
      await flow.relay();
      return id;
    },
    rescue: recover,
    done: async (flow, id) => (await flow.attempt(id)).cancelStatus === 'REQUESTED',
  },
  'attempt.reconcile.requested': {
    prepare: async (flow) => {
      const { id } = await flow.submit({ fault: ['answer_lost', 'hang'] });
      flow.clock.advance(5_000);
      await flow.relay();
      return id;
    },
    rescue: recover,
    done: statusIs('SUBMITTED', 'RUNNING'),
  },
  'provider.status.observed': {
    prepare: async (flow) => {
      const { id } = await flow.submit();
      await flow.jobReached(id);
      await flow.poll();
      await flow.relay();
      return id;
    },
    rescue: ({ context }) => createOrphanMatcher(context)(),
    done: statusIs('POST_PROCESSING'),
  },
  'output.fetch.requested': {
    prepare: fetchable,
    rescue: recover,
    done: statusIs('POST_PROCESSING'),
  },
  'media.process.requested': {
    prepare: async (flow) => {
      const id = await fetchable(flow);
      await flow.drain(['media']);
      return id;
    },
    rescue: recover,
    done: statusIs('SUCCEEDED'),
  },
  'billing.cost.observed': {
    prepare: async (flow) => {
      const { id } = await flow.submit();
      await flow.finishJob(id);
      await flow.relay();
      return id;
    },
    rescue: ({ context }) => rescueCosts(context),
    done: async (flow, id) =>
      (
        await flow.look(
          'SELECT 1 FROM provider_costs WHERE attempt_id IN (SELECT id FROM task_attempts WHERE task_id = $1)',
          [id],
        )
      ).length === 1,
  },
  'billing.settlement.requested': {
    prepare: endWithoutLedger,
    rescue: ({ context }) => rescueSettlements(context),
    done: async (flow, id) =>
      (await flow.look(`SELECT 1 FROM holds WHERE task_id = $1 AND status = 'CLOSED'`, [id]))
        .length === 1,
  },
  'task.status.changed': NOT_NEEDED,
  'asset.status.changed': NOT_NEEDED,
};

describe('a message that the bus lost after its outbox row was marked', () => {
  it.each(MESSAGE_TYPES.filter((type) => LOST[type] !== NOT_NEEDED))(
    '%s: what it asked for is done without it',
    async (type) => {
      const lost = LOST[type] as LostMessage;
      const flow = await open({ toolkit: onlyProxy, ledgerWaitMs: 100 });
      const id = await lost.prepare(flow);
      expect(await flow.look(`SELECT 1 FROM outbox_events WHERE status <> 'PUBLISHED'`)).toEqual(
        [],
      );
      const [group] = groupsOf(type);
      if (group === undefined) throw new Error(`nobody reads ${type}`);
      const gone = await flow.lose(group);
      expect(gone.map(({ eventType }) => eventType)).toEqual([type]);
      // Where media come next they are left alone, so that it shows which step was rescued.
      const beyond = type === 'media.process.requested' ? [] : (['media'] as const);
      await flow.drain(beyond);
      expect(await lost.done(flow, id)).toBe(false);
      flow.clock.advance(flow.context.settings.stuckAfterMs + 1);
      expect(await lost.rescue(flow)).toBe(1);
      await flow.drain(beyond);
      expect(await lost.done(flow, id)).toBe(true);
    },
  );
});
