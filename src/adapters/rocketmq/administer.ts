import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { groupNamesOf, TOPIC_MESSAGE_TYPE, topicsOf } from './topics';

const runFile = promisify(execFile);

export interface AdministrationOptions {
  /** The program mqadmin of a RocketMQ distribution. */
  readonly mqadmin: string;
  /** host:port of the name servers, separated by semicolons. */
  readonly namesrv: string;
}

/** What a bus of one prefix needs of a cluster, and what is not so. */
export interface BusFindings {
  readonly cluster: string;
  readonly fine: readonly string[];
  readonly problems: readonly BusProblem[];
}

export interface BusProblem {
  readonly kind: 'TOPIC' | 'GROUP';
  readonly name: string;
  readonly says: string;
}

export interface GroupProgress {
  readonly group: string;
  /** Messages that the broker has not handed out. */
  readonly waiting: number;
}

const LIMIT_MS = 60_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
const QUEUES = 8;
/** Repeats are counted, and ended, by the product: the broker must never move a message to dead letters of its own. */
const RETRIES_MAX = 10_000;

interface Metadata {
  readonly topicConfigTable?: Readonly<
    Record<string, { readonly attributes?: Readonly<Record<string, string>> }>
  >;
  readonly subscriptionGroupTable?: Readonly<Record<string, { readonly retryMaxTimes?: number }>>;
}

/** mqadmin exits with 0 whatever happened, so every change is read again. Throws one line that names the variable. */
export const createAdministration = (options: AdministrationOptions) => {
  const call = async (...args: readonly string[]): Promise<string> => {
    const { stdout, stderr } = await runFile(options.mqadmin, [...args, '-n', options.namesrv], {
      timeout: LIMIT_MS,
      maxBuffer: OUTPUT_BYTES_MAX,
    }).catch((error: unknown) => {
      throw new Error(explain(error, options.mqadmin));
    });
    const failure = /^.*(?:Exception|\[error\]).*$/im.exec(stdout + stderr);
    if (failure === null) return stdout;
    throw new Error(
      `AIVEDIO_ROCKETMQ_NAMESRV: mqadmin ${args[0] ?? ''} at ${options.namesrv} said "${failure[0].trim()}"; start the name server and the broker there, or correct the address`,
    );
  };

  const inScratch = async <T>(use: (folder: string) => Promise<T>): Promise<T> => {
    const folder = await mkdtemp(path.join(tmpdir(), 'aivedio-mqadmin-'));
    try {
      return await use(folder);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };

  const readCluster = async (): Promise<string> => {
    const [, first] = (await call('clusterList')).split('\n').filter((line) => line.trim() !== '');
    const [cluster] = first?.trim().split(/\s+/) ?? [];
    if (cluster !== undefined) return cluster;
    throw new Error(
      `AIVEDIO_ROCKETMQ_NAMESRV: the name server at ${options.namesrv} knows no broker; start one that names it as its namesrvAddr`,
    );
  };

  const readMetadata = (cluster: string): Promise<Metadata> =>
    inScratch(async (folder) => {
      await call('exportMetadata', '-c', cluster, '-f', folder);
      return JSON.parse(await readFile(path.join(folder, 'metadata.json'), 'utf8')) as Metadata;
    });

  const apply = (command: string, cluster: string, configurations: readonly unknown[]) =>
    inScratch(async (folder) => {
      const file = path.join(folder, 'list.json');
      await writeFile(file, JSON.stringify(configurations));
      await call(command, '-c', cluster, '-f', file);
    });

  const look = async (cluster: string, prefixes: readonly string[]): Promise<BusFindings> => ({
    cluster,
    ...judge(await readMetadata(cluster), prefixes),
  });

  const check = async (prefixes: readonly string[]): Promise<BusFindings> =>
    look(await readCluster(), prefixes);

  /** Creates what is missing and corrects what is otherwise; answers what is still not so. */
  const create = async (prefixes: readonly string[]): Promise<BusFindings> => {
    const before = await check(prefixes);
    const named = (kind: BusProblem['kind']): string[] =>
      before.problems.filter((problem) => problem.kind === kind).map(({ name }) => name);
    const topics = named('TOPIC').map(describeTopic);
    const groups = named('GROUP').map((groupName) => ({ groupName, retryMaxTimes: RETRIES_MAX }));
    // Each call is a start of Java.
    await Promise.all([
      topics.length === 0 ? null : apply('updateTopicList', before.cluster, topics),
      groups.length === 0 ? null : apply('updateSubGroupList', before.cluster, groups),
    ]);
    return before.problems.length === 0 ? before : look(before.cluster, prefixes);
  };

  const progress = async (prefix: string): Promise<GroupProgress[]> => {
    const lines = (await call('consumerProgress'))
      .split('\n')
      .map((line) => line.trim().split(/\s+/));
    const names = groupNamesOf(prefix);
    return lines
      .filter(([name]) => name !== undefined && names.includes(name))
      .map((words) => ({ group: words[0] ?? '', waiting: Number(words.at(-1)) }));
  };

  return { check, create, progress };
};

const describeTopic = (topicName: string) => ({
  topicName,
  readQueueNums: QUEUES,
  writeQueueNums: QUEUES,
  perm: 6,
  topicFilterType: 'SINGLE_TAG',
  topicSysFlag: 0,
  order: false,
  attributes: { '+message.type': TOPIC_MESSAGE_TYPE },
});

const judge = (
  metadata: Metadata,
  prefixes: readonly string[],
): { readonly fine: string[]; readonly problems: BusProblem[] } => {
  const fine: string[] = [];
  const problems: BusProblem[] = [];
  for (const name of prefixes.flatMap(topicsOf)) {
    const topic = metadata.topicConfigTable?.[name];
    const type = topic?.attributes?.['message.type'] ?? 'none';
    if (topic === undefined) problems.push({ kind: 'TOPIC', name, says: 'is missing' });
    else if (type !== TOPIC_MESSAGE_TYPE) {
      problems.push({
        kind: 'TOPIC',
        name,
        says: `has message.type ${type} and would refuse ${TOPIC_MESSAGE_TYPE}`,
      });
    } else fine.push(`topic ${name} (${type})`);
  }
  for (const name of prefixes.flatMap(groupNamesOf)) {
    const group = metadata.subscriptionGroupTable?.[name];
    const retries = group?.retryMaxTimes ?? 0;
    if (group === undefined) problems.push({ kind: 'GROUP', name, says: 'is missing' });
    else if (retries < RETRIES_MAX) {
      problems.push({
        kind: 'GROUP',
        name,
        says: `has retryMaxTimes ${retries}: the broker would bury messages that the product still repeats`,
      });
    } else fine.push(`group ${name}`);
  }
  return { fine, problems };
};

const explain = (error: unknown, mqadmin: string): string => {
  const { code, message } = error as Error & { readonly code?: unknown };
  return code === 'ENOENT' || code === 'EACCES'
    ? `AIVEDIO_ROCKETMQ_MQADMIN: ${mqadmin} cannot be run (${code}); give the path of bin/mqadmin of a RocketMQ distribution`
    : `AIVEDIO_ROCKETMQ_NAMESRV: mqadmin failed: ${message.split('\n').slice(0, 3).join(' ')}`;
};
