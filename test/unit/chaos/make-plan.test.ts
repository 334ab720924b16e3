import {
  FAULT_KINDS,
  NEEDS_CLUSTER,
  NEEDS_MOUNT,
  NEEDS_TOXIPROXY,
} from '../../../chaos/fault-kinds';
import { CLIENTS, makePlan } from '../../../chaos/make-plan';
import { readChaosOptions } from '../../../chaos/chaos-options';

const OPTIONS = { tasks: 150, minutes: 2, seed: 1, cluster: false, requireAll: true, keep: false };
const ALL_KINDS = Object.keys(FAULT_KINDS).sort();
const KINDS = ALL_KINDS.filter((kind) => !(NEEDS_CLUSTER as readonly string[]).includes(kind));

describe('the plan of a chaos run', () => {
  it('is repeated by its seed, and by no other', () => {
    expect(makePlan(OPTIONS)).toEqual(makePlan(OPTIONS));
    expect(makePlan({ ...OPTIONS, seed: 2 })).not.toEqual(makePlan(OPTIONS));
  });

  it.each([1, 2, 3, 4, 5])('of seed %i has every kind of fault, within the time', (seed) => {
    const { faults } = makePlan({ ...OPTIONS, seed });
    expect([...new Set(faults.map(({ kind }) => kind))].sort()).toEqual(KINDS);
    expect(faults.every(({ atMs }) => atMs >= 5_000 && atMs < 115_000)).toBe(true);
  });

  it('kills broker and Redis where these are servers of their own', () => {
    const { faults } = makePlan({ ...OPTIONS, cluster: true });
    expect([...new Set(faults.map(({ kind }) => kind))].sort()).toEqual(ALL_KINDS);
    expect(NEEDS_CLUSTER.length).toBeGreaterThan(3);
  });

  it('has at least twelve kinds that need neither root nor another program', () => {
    const special: readonly string[] = [...NEEDS_MOUNT, ...NEEDS_TOXIPROXY];
    expect(KINDS.filter((kind) => !special.includes(kind)).length).toBeGreaterThanOrEqual(12);
  });

  it('spreads the generations over the time and over all clients', () => {
    const { tasks } = makePlan({ ...OPTIONS, tasks: 2_000, minutes: 10 });
    expect(tasks).toHaveLength(2_000);
    expect(tasks.at(-1)?.atMs).toBeLessThan(600_000);
    expect(new Set(tasks.map(({ client }) => client)).size).toBe(CLIENTS);
  });

  it('cancels whatever the provider would hold for ever', () => {
    const { tasks } = makePlan({ ...OPTIONS, tasks: 2_000 });
    const held = tasks.filter(({ providerFaults }) =>
      providerFaults.some((each) => each === 'hang' || /^cancel_(?!charged)/.test(each)),
    );
    expect(held.length).toBeGreaterThan(50);
    expect(held.filter(({ cancelAfterMs }) => cancelAfterMs === null)).toEqual([]);
  });
});

describe('the words of a chaos run', () => {
  it('have defaults, and are refused when they are no numbers', () => {
    expect(readChaosOptions([])).toEqual({ ...OPTIONS, requireAll: false });
    expect(readChaosOptions(['--seed', '7', '--require-all'])).toMatchObject({ seed: 7 });
    expect(() => readChaosOptions(['--tasks', 'many'])).toThrow('--tasks');
    expect(readChaosOptions(['--help'])).toBe('HELP');
  });
});
