import { WORKERS } from '../../../src/domain/stages';
import { planProcesses } from '../../../src/runtime/worker-groups';

const membersOf = (plan: ReturnType<typeof planProcesses>): string[] =>
  plan.flatMap(({ workers }) => workers).sort();

describe('how workers are spread over processes', () => {
  test.each(['separate', 'grouped', 'auto'] as const)('%s: every worker runs once', (mode) => {
    expect(membersOf(planProcesses(mode, 2))).toEqual([...WORKERS].sort());
    expect(membersOf(planProcesses(mode, 64))).toEqual([...WORKERS].sort());
  });

  test('separate: each process bears the name of its only worker', () => {
    expect(planProcesses('separate', 1)).toEqual(
      WORKERS.map((name) => ({ name, workers: [name] })),
    );
  });

  test('grouped: whoever carries files stands apart from whoever moves generations on', () => {
    const plan = planProcesses('grouped', 64);
    const home = (name: (typeof WORKERS)[number]) =>
      plan.findIndex(({ workers }) => workers.includes(name));
    expect(plan).toHaveLength(2);
    expect(home('media')).toBe(home('output-fetch'));
    expect(home('media')).not.toBe(home('reducer'));
  });

  test('auto: grouped with fewer than eight processors', () => {
    expect(planProcesses('auto', 7)).toEqual(planProcesses('grouped', 7));
    expect(planProcesses('auto', 8)).toEqual(planProcesses('separate', 8));
  });
});
