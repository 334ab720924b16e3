import type { WorkerName } from '../domain/stages';
import { WORKERS } from '../domain/stages';

/** How the starter spreads the workers: each a process of its own, or those that only wait for the database together. */
export type ProcessMode = 'separate' | 'grouped' | 'auto';

/** One process and the workers that run in it. */
export interface PlannedProcess {
  readonly name: string;
  readonly workers: readonly WorkerName[];
}

/** With fewer processors than this, a process for every worker costs more in wake-ups than it brings. */
const CPUS_FOR_SEPARATE = 8;

/** Whoever carries files or starts tools stands apart, so that a large file keeps no transition waiting. */
const FILE_WORKERS: readonly WorkerName[] = ['asset-validator', 'output-fetch', 'media'];

export const planProcesses = (mode: ProcessMode, cpus: number): readonly PlannedProcess[] => {
  const isGrouped = mode === 'grouped' || (mode === 'auto' && cpus < CPUS_FOR_SEPARATE);
  if (!isGrouped) return WORKERS.map((name) => ({ name, workers: [name] }));
  return [
    { name: 'workers', workers: WORKERS.filter((name) => !FILE_WORKERS.includes(name)) },
    { name: 'file-workers', workers: FILE_WORKERS },
  ];
};
