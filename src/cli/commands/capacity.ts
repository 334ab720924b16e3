import { planCapacity } from '../../domain/capacity/plan-capacity';
import { scenarioProblems } from '../../domain/capacity/scenario';
import { seededRandom } from '../../domain/capacity/seeded-random';
import { simulateLoad } from '../../domain/capacity/simulate-load';
import type { MeasuredLoad } from '../../ports/load-reads';
import { readConfig } from '../../runtime/config';
import { measureLoad } from '../../runtime/measure-load';
import { CannotLookError } from '../../runtime/reach-database';
import { UsageError, type Command } from '../command';
import { QUIET } from '../quiet-log';
import { CAPACITY_USAGE, loadOf, readCapacityWords, scenarioOf } from './capacity/read-words';
import { describeMeasured, describePlan, describeSimulated } from './capacity/describe';

/** What a load needs, from given or live figures, and by a simulation what becomes of the queue. */
export const capacityCommand: Command = {
  name: 'capacity',
  says: 'what a load needs, and how old the queue gets: by formula and by simulation',
  run: async (words, print) => {
    if (words.includes('--help')) {
      print(CAPACITY_USAGE);
      return 0;
    }
    const wanted = readCapacityWords(words);
    let measured: MeasuredLoad | null = null;
    if (wanted.live) {
      try {
        measured = await measureLoad(readConfig(), QUIET, wanted.windowS * 1_000);
      } catch (error) {
        if (!(error instanceof CannotLookError)) throw error;
        print(wanted.json ? JSON.stringify({ error: error.message }) : error.message);
        return 2;
      }
    }
    const load = loadOf(wanted, measured);
    const scenario = scenarioOf(wanted, load, measured);
    const problems = scenarioProblems(scenario);
    if (problems.length > 0) throw new UsageError(problems.join('\n'));
    const plan = planCapacity(load);
    const simulated = wanted.simulate ? simulateLoad(scenario, seededRandom(wanted.seed)) : null;
    if (wanted.json) {
      print(JSON.stringify({ measured, load, plan, simulated }, null, 2));
      return 0;
    }
    for (const line of [
      ...(measured === null ? [] : describeMeasured(measured, wanted.windowS)),
      ...describePlan(load, plan),
      ...(simulated === null ? [] : describeSimulated(scenario, simulated, wanted.seed)),
    ]) {
      print(line);
    }
    return 0;
  },
};
