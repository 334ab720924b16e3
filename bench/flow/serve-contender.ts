import type { Answer, ContenderSetup, Load, LoadResult, Question } from './bench-protocol';

export interface ContenderProcess {
  /** Absent in a process that only works for another one's load. */
  readonly run?: (load: Load) => Promise<LoadResult>;
  readonly stop: () => Promise<void>;
}

/** Body of every process under measurement: answers the bench over IPC; its own CPU is read inside it. */
export const serveContender = (
  start: (setup: ContenderSetup) => Promise<ContenderProcess>,
): void => {
  const answer = (message: Answer): void => void process.send?.(message);
  const fail = (error: unknown): void =>
    answer({
      kind: 'failed',
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  const serve = async (): Promise<void> => {
    const contender = await start(JSON.parse(process.argv[2] ?? '{}') as ContenderSetup);
    process.on('disconnect', () => process.exit(0));
    process.on('message', (question: Question | { readonly ask?: undefined }) => {
      if (question.ask === undefined) return;
      respond(contender, question, answer).catch(fail);
    });
    answer({ kind: 'ready' });
  };
  serve().catch(fail);
};

const respond = async (
  contender: ContenderProcess,
  question: Question,
  answer: (message: Answer) => void,
): Promise<void> => {
  switch (question.ask) {
    case 'cpu': {
      const { user, system } = process.cpuUsage();
      answer({ kind: 'cpu', cpuMs: (user + system) / 1_000 });
      return;
    }
    case 'load':
      if (contender.run === undefined) throw new Error('This process takes no load');
      answer({ kind: 'load', result: await contender.run(question.load) });
      return;
    case 'stop':
      await contender.stop();
      process.exit(0);
  }
};
