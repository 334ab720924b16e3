import type { Health, PartHealth } from '../../../../src/ports/health';
import { createHealthChecks } from '../../../../src/runtime/health/health-checks';

const OK: Health = { ok: true, detail: 'answers' };
const LOST: Health = { ok: false, detail: 'connect ECONNREFUSED' };

const open = () => {
  let atMs = 0;
  const changes: string[] = [];
  const checks = createHealthChecks({
    nowMs: () => atMs,
    onChange: ({ name, ok }: PartHealth) => void changes.push(`${name} ${ok ? 'back' : 'lost'}`),
  });
  return {
    checks,
    changes,
    pass: (ms: number) => {
      atMs += ms;
    },
  };
};

/** A back end whose state the test sets, and that counts how often it was asked. */
const backEnd = (state: Health) => {
  const part = { state, asked: 0 };
  return Object.assign(part, {
    check: () => {
      part.asked += 1;
      return Promise.resolve(part.state);
    },
  });
};

describe('the health of a process', () => {
  it('is ready when every part answers, and says which', async () => {
    const { checks, changes } = open();
    checks.add({ name: 'database', weight: 'REQUIRED', check: backEnd(OK).check });
    expect(await checks.read()).toEqual({
      status: 'ready',
      parts: [{ name: 'database', weight: 'REQUIRED', ...OK }],
    });
    expect(changes).toEqual([]);
  });

  it('is not ready without a required part, and ready again when it is back', async () => {
    const { checks, changes, pass } = open();
    const database = backEnd(OK);
    checks.add({ name: 'database', weight: 'REQUIRED', check: database.check });
    await checks.read();
    database.state = LOST;
    pass(2_001);
    expect(await checks.read()).toMatchObject({ status: 'not ready', parts: [LOST] });
    database.state = OK;
    pass(2_001);
    expect((await checks.read()).status).toBe('ready');
    expect(changes).toEqual(['database lost', 'database back']);
  });

  it('goes on without a degrading part that it has had, but does not begin without', async () => {
    const { checks, pass } = open();
    const bus = backEnd(LOST);
    checks.add({ name: 'bus', weight: 'DEGRADING', check: bus.check });
    expect((await checks.read()).status).toBe('not ready');
    bus.state = OK;
    pass(2_001);
    expect((await checks.read()).status).toBe('ready');
    bus.state = LOST;
    pass(2_001);
    expect(await checks.read()).toMatchObject({
      status: 'degraded',
      parts: [{ name: 'bus', ok: false, detail: LOST.detail }],
    });
  });

  it('is only degraded by an information', async () => {
    const { checks } = open();
    checks.add({ name: 'providers', weight: 'INFORMATION', check: backEnd(LOST).check });
    expect((await checks.read()).status).toBe('degraded');
  });

  it('asks a part once for many probes, and again when the answer is old', async () => {
    const { checks, pass } = open();
    const database = backEnd(OK);
    checks.add({ name: 'database', weight: 'REQUIRED', maxAgeMs: 500, check: database.check });
    await Promise.all(Array.from({ length: 20 }, () => checks.read()));
    pass(499);
    await checks.read();
    expect(database.asked).toBe(1);
    pass(1);
    await checks.read();
    expect(database.asked).toBe(2);
  });

  it('counts silence and a rejection as lost, with the cause', async () => {
    const { checks } = open();
    checks.add({
      name: 'slots',
      weight: 'REQUIRED',
      timeLimitMs: 10,
      check: () => new Promise(() => undefined),
    });
    checks.add({
      name: 'objects',
      weight: 'REQUIRED',
      check: () => Promise.reject(new Error('refused', { cause: new Error('403') })),
    });
    const { status, parts } = await checks.read();
    expect(status).toBe('not ready');
    expect(parts.map(({ detail }) => detail)).toEqual(['no answer within 10 ms', 'refused: 403']);
  });

  it('says that it drains, whatever its parts say', async () => {
    const { checks } = open();
    checks.add({ name: 'database', weight: 'REQUIRED', check: backEnd(OK).check });
    checks.drain();
    expect((await checks.read()).status).toBe('draining');
  });
});
