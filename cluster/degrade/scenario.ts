import type { Scene } from './scene';

/** One degradation: what is broken, and what is looked at while it is. Whatever it breaks it mends again. */
export interface Scenario {
  readonly name: string;
  readonly says: string;
  run(scene: Scene): Promise<void>;
}
