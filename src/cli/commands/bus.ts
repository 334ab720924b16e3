import { openBusAdministration } from '../../runtime/bus-administration';
import { readConfig } from '../../runtime/config';
import { UsageError, type Command } from '../command';

const USAGE = [
  'Usage: npm run cli -- bus check | create | lag',
  '',
  'The topics and consumer groups of RocketMQ, through mqadmin (AIVEDIO_ROCKETMQ_MQADMIN, else of the PATH) at',
  'AIVEDIO_ROCKETMQ_NAMESRV, with the prefix AIVEDIO_ROCKETMQ_PREFIX. The Postgres bus needs none of it.',
  '',
  '  check   says what is missing or otherwise than it must be, one line each, with the remedy',
  '  create  creates and corrects it; may be repeated, and touches nothing that is right',
  '  lag     messages of each group that the broker has not handed out',
  '',
  'Exit code: 0 all is there, 1 something is missing, 2 could not look.',
].join('\n');

export const busCommand: Command = {
  name: 'bus',
  says: 'creates or checks the topics and consumer groups of RocketMQ',
  run: async (words, print) => {
    const [verb] = words;
    if (words.includes('--help')) {
      print(USAGE);
      return 0;
    }
    const administration = openBusAdministration(readConfig());
    switch (verb) {
      case 'check':
      case 'create': {
        const { cluster, fine, problems } = await administration[verb]();
        for (const line of fine) print(`ok       ${line}`);
        for (const { kind, name, says } of problems) {
          print(`MISSING  ${kind.toLowerCase()} ${name} ${says}; ${REMEDY[verb]}`);
        }
        print(`${cluster}: ${fine.length} right, ${problems.length} not`);
        return problems.length === 0 ? 0 : 1;
      }
      case 'lag': {
        const groups = await administration.progress();
        for (const { group, waiting } of groups) print(`${group.padEnd(40)} ${waiting}`);
        return 0;
      }
      case undefined:
      default:
        throw new UsageError(`bus ${verb ?? ''}: say check, create or lag.\n${USAGE}`);
    }
  },
};

const REMEDY = {
  check: 'npm run cli -- bus create',
  create: 'the broker refused it: see its log, and whether it may be administered from here',
} as const;
