import { Mailbox } from '../../../src/resolvers/live/mailbox';

interface Row {
  readonly id: string;
  readonly version: number;
  readonly end?: boolean;
}

const openMailbox = (pendingMax = 3) => {
  const calls = { started: 0, stopped: 0 };
  const mailbox = new Mailbox<Row>({
    idOf: ({ id }) => id,
    signatureOf: ({ version }) => String(version),
    isLast: ({ end }) => end === true,
    pendingMax,
    start: () => {
      calls.started += 1;
      return () => (calls.stopped += 1);
    },
    overflow: () => new Error('too slow'),
  });
  return { mailbox, calls };
};

const DONE = { value: undefined, done: true };
const row = (id: string, version: number, end = false): Row => ({ id, version, end });
const next = (value: Row) => ({ value, done: false });

describe('a mailbox', () => {
  it('begins its work with the first next', async () => {
    const { mailbox, calls } = openMailbox();
    expect(calls.started).toBe(0);
    await mailbox.return();
    expect(calls).toEqual({ started: 0, stopped: 0 });
    expect(await mailbox.next()).toEqual(DONE);
    expect(calls.started).toBe(0);
  });

  it('keeps the latest state of each row, in the order of first news', async () => {
    const { mailbox } = openMailbox();
    for (const each of [row('a', 1), row('b', 1), row('a', 2), row('a', 3)]) mailbox.put(each);
    expect(mailbox.depth).toBe(2);
    expect([await mailbox.next(), await mailbox.next()]).toEqual([
      next(row('a', 3)),
      next(row('b', 1)),
    ]);
  });

  it('does not tell the same state twice', async () => {
    const { mailbox } = openMailbox();
    mailbox.put(row('a', 1));
    await mailbox.next();
    const waiting = mailbox.next();
    mailbox.put(row('a', 1));
    mailbox.put(row('a', 2));
    expect(await waiting).toEqual(next(row('a', 2)));
  });

  it('ends after the last state, and stops its work then', async () => {
    const { mailbox, calls } = openMailbox();
    const waiting = mailbox.next();
    mailbox.put(row('a', 9, true));
    expect(await waiting).toEqual(next(row('a', 9, true)));
    expect(calls.stopped).toBe(1);
    expect(await mailbox.next()).toEqual(DONE);
  });

  it('that is left while it waits ends at once', async () => {
    const { mailbox, calls } = openMailbox();
    const waiting = mailbox.next();
    await mailbox.return();
    expect(await waiting).toEqual(DONE);
    expect(calls).toEqual({ started: 1, stopped: 1 });
    mailbox.put(row('a', 1));
    expect(mailbox.depth).toBe(0);
  });

  it('that overflows drops everything and says so, once', async () => {
    const { mailbox, calls } = openMailbox(2);
    const waiting = mailbox.next();
    mailbox.put(row('a', 1));
    await waiting;
    for (const id of ['b', 'c', 'd', 'e']) mailbox.put(row(id, 1));
    expect(mailbox.depth).toBe(0);
    expect(calls.stopped).toBe(1);
    await expect(mailbox.next()).rejects.toThrow('too slow');
    expect(await mailbox.next()).toEqual(DONE);
  });
});
