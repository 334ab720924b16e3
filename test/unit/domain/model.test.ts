import fc from 'fast-check';
import { TASK_STATUSES } from '../../../src/domain/generation/statuses';
import { checkNoBlindSubmit, checkRows, checkStep } from './support/check-world';
import { eventOf, listHappenings, perform, SENT_EVENTS } from './support/happenings';
import { SimulatedWorld, type Applied } from './support/simulated-world';

/** Every run is a sequence of numbers; each chooses among what may happen at that moment. */
const courses = fc.array(fc.nat(2 ** 24), { minLength: 1, maxLength: 60, size: 'max' });

const at = <T>(list: readonly T[], number: number): T | undefined => list[number % list.length];

const check = (world: SimulatedWorld, applied: Applied | null): void => {
  if (applied !== null) checkStep(world, applied);
  if (applied === null || applied.decision.kind === 'MOVE' || applied.decision.attemptTo !== null) {
    checkRows(world);
  }
};

describe('a generation in a simulated world', () => {
  it('keeps every invariant whatever people, workers, clocks and an honest provider do', () => {
    const seen = new Set<string>(['CREATED']);
    fc.assert(
      fc.property(courses, (course) => {
        const world = new SimulatedWorld();
        const log: Applied[] = [];
        for (const number of course) {
          const luck = number >> 6;
          // One in eight is a message that arrives again.
          const again = number % 8 === 0 ? at(log, luck) : undefined;
          const applied =
            again === undefined
              ? (at(listHappenings(world, luck), number)?.() ?? null)
              : perform(world, again.event, again.attempt);
          if (applied !== null) log.push(applied);
          check(world, applied);
          checkNoBlindSubmit(world);
          seen.add(world.task.status);
        }
      }),
      { numRuns: 14_000 },
    );
    // The course of events reaches all of the law, or the property would say little.
    expect(seen.size).toBe(TASK_STATUSES.length);
  });

  it('keeps every invariant of its rows under any events at all, however absurd', () => {
    fc.assert(
      fc.property(courses, (course) => {
        const world = new SimulatedWorld();
        for (const number of course) {
          const luck = number >> 6;
          const attempt = at(world.attempts, luck >> 3) ?? null;
          if (number % 16 === 0 && attempt !== null) world.send(attempt, luck % 2 === 0);
          const honest = number % 2 === 0;
          const applied = honest
            ? (at(listHappenings(world, luck), number >> 1)?.() ?? null)
            : perform(world, eventOf(at(SENT_EVENTS, number >> 1) ?? 'queued', luck), attempt);
          check(world, applied);
        }
      }),
      { numRuns: 6_000 },
    );
  });
});
