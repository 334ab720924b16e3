import { capacityCommand } from '../../../src/cli/commands/capacity';
import { UsageError } from '../../../src/cli/command';

const run = async (...words: string[]): Promise<string> => {
  const lines: string[] = [];
  expect(await capacityCommand.run(words, (line) => lines.push(line))).toBe(0);
  return lines.join('\n');
};

const figures = async (...words: string[]) =>
  JSON.parse(await run('--json', ...words)) as {
    plan: Record<string, number>;
    simulated: { arrivals: number; queue: { maxS: number }; expired: number } | null;
  };

describe('npm run cli -- capacity', () => {
  test('answers for three generations a second of three minutes each', async () => {
    expect(await run()).toMatch(/slots needed +720 \(there are 720\)/);
    expect((await figures()).plan).toMatchObject({
      jobsInFlight: 540,
      pollsPerS: 54,
      writesPerS: 42,
    });
  });

  test('takes what is given instead', async () => {
    expect((await figures('--slots', '400')).plan['queueGrowthPerS']).toBeCloseTo(0.78, 2);
    expect((await figures('--times', '100')).plan['slotsNeeded']).toBe(72_000);
  });

  test('simulates an outage, the same with the same seed', async () => {
    const words = ['--simulate', '--outage', '1@20+10', '--failures', '0', '--unknown', '0'];
    const { simulated } = await figures(...words);
    expect(simulated?.queue.maxS).toBeGreaterThan(590);
    expect(await figures(...words)).toEqual(await figures(...words));
    expect((await figures(...words, '--seed', '2')).simulated?.arrivals).not.toBe(
      simulated?.arrivals,
    );
    expect((await figures('--simulate')).simulated?.queue.maxS).toBeLessThan(60);
  });

  test.each([
    [['--rate', 'many'], /--rate wants a number/],
    [['--rate', '-1'], /--rate|argument/],
    [['--rate', ''], /--rate wants a number/],
    [['--speed', '3'], /Unknown option|Usage/],
    [['--simulate', '--outage', 'soon'], /--outage wants NUMBER@FROM\+FOR/],
    [['--simulate', '--outage', '2@1+1'], /there are 1/],
    [
      ['--simulate', '--success', '0', '--failures', '2', '--rate', '0'],
      /rate must be more than 0\nfailures at provider 1 must be from 0 to 1/,
    ],
  ])('refuses %j', async (words, says) => {
    const failed = await capacityCommand
      .run(words, () => undefined)
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(UsageError);
    expect((failed as Error).message).toMatch(says);
  });
});
