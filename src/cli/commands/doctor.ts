import { ConfigError, readConfig, type Config } from '../../runtime/config';
import { examineDeployment, type Finding } from '../../runtime/doctor/examine-deployment';
import { UsageError, type Command } from '../command';
import { QUIET } from '../quiet-log';

const USAGE = [
  'Usage: npm run cli -- doctor',
  '',
  'For a deployment: reads the configuration as a process would, and asks everything that it names: database, migrations, clocks,',
  'bus, Redis, object store, media tools, providers. One line each; it changes nothing and costs nothing at a provider.',
  'Run it where the processes run, with their environment. (`npm run doctor` is for a machine that builds or tests.)',
  '',
  'Exit code: 0 all answers, 1 something does not, 2 the configuration is wrong: nothing could be asked.',
].join('\n');

export const doctorCommand: Command = {
  name: 'doctor',
  says: 'asks every back end of the configuration, and says what to mend',
  run: async (words, print) => {
    if (words.includes('--help')) {
      print(USAGE);
      return 0;
    }
    if (words.length > 0) throw new UsageError(`doctor takes no ${words[0] ?? ''}.\n${USAGE}`);
    const config = readOrPrint(print);
    if (config === null) return 2;
    const findings = await examineDeployment(config, QUIET);
    for (const finding of findings) print(lineOf(finding));
    const wrong = findings.filter(({ ok }) => !ok).length;
    print(`${findings.length - wrong} right, ${wrong} not`);
    return wrong === 0 ? 0 : 1;
  },
};

const readOrPrint = (print: (line: string) => void): Config | null => {
  try {
    const config = readConfig();
    print('ok     configuration');
    return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const problem of error.problems) print(`WRONG  configuration: ${problem}`);
    return null;
  }
};

const lineOf = ({ name, ok, detail, remedy }: Finding): string =>
  ok
    ? `ok     ${name}: ${detail}`
    : `WRONG  ${name}: ${detail}${remedy === null ? '' : `; do: ${remedy}`}`;
