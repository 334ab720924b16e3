import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const runFile = promisify(execFile);

export const ROCKETMQ_VERSION = '5.3.3';
const PARTS = ['rocketmq-proxy', 'rocketmq-broker', 'rocketmq-namesrv', 'rocketmq-tools'];
const FETCH_LIMIT_MS = 540_000;

/** Java 17 hides what the broker's mapped files need. */
export const JAVA_OPENINGS = [
  '--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED',
  '--add-opens=java.base/java.nio=ALL-UNNAMED',
];

/** Two fetches at once work in folders of their own; whichever ends first is the one that stays. */
export const fetchRocketmq = async (say: (line: string) => void): Promise<string> => {
  const folder = path.join(homedir(), '.cache', 'aivedio', `rocketmq-${ROCKETMQ_VERSION}`);
  const lib = path.join(folder, 'lib');
  if (existsSync(lib)) return lib;
  await mkdir(folder, { recursive: true });
  const draft = await mkdtemp(path.join(folder, 'fetch-'));
  say(`fetching RocketMQ ${ROCKETMQ_VERSION} with Maven …`);
  try {
    await writeFile(path.join(draft, 'pom.xml'), pom());
    await runFile(
      'mvn',
      ['-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${path.join(draft, 'lib')}`],
      { cwd: draft, timeout: FETCH_LIMIT_MS },
    );
    await rename(path.join(draft, 'lib'), lib).catch((error: unknown) => {
      if (!existsSync(lib)) throw error;
    });
    return lib;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
};

/** A program as RocketMQ's own distribution has it in bin/, for `AIVEDIO_ROCKETMQ_MQADMIN`. */
export const writeMqadmin = async (dir: string, lib: string): Promise<string> => {
  const file = path.join(dir, 'mqadmin');
  const script = [
    '#!/bin/sh',
    `exec java -Xmx128m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC ${JAVA_OPENINGS.join(' ')} \\`,
    `  -Duser.home='${dir}' -Drocketmq.home.dir='${dir}' -cp '${path.join(lib, '*')}' \\`,
    '  org.apache.rocketmq.tools.command.MQAdminStartup "$@"',
    '',
  ];
  await writeFile(file, script.join('\n'), { mode: 0o755 });
  return file;
};

const pom = (): string => `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>aivedio</groupId>
  <artifactId>rocketmq</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
${PARTS.map(
  (part) =>
    `    <dependency><groupId>org.apache.rocketmq</groupId><artifactId>${part}</artifactId><version>${ROCKETMQ_VERSION}</version></dependency>`,
).join('\n')}
  </dependencies>
</project>
`;
