import { seededRandom } from '../src/domain/capacity/seeded-random';

/** A stream of random numbers that a seed repeats: the plan of a run hangs on it and on nothing else. */
export interface Random {
  /** At least 0, below 1. */
  next(): number;
  /** A whole number from 0 to `below` - 1. */
  below(below: number): number;
  pick<T>(from: readonly T[]): T;
  shuffle<T>(items: readonly T[]): T[];
  chance(probability: number): boolean;
}

export const createRandom = (seed: number): Random => {
  const next = seededRandom(seed);
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    pick: <T>(from: readonly T[]): T => {
      const picked = from[below(from.length)];
      if (picked === undefined) throw new RangeError('Nothing to pick from');
      return picked;
    },
    shuffle: <T>(items: readonly T[]): T[] => {
      const left = [...items];
      const shuffled: T[] = [];
      while (left.length > 0) shuffled.push(...left.splice(below(left.length), 1));
      return shuffled;
    },
    chance: (probability) => next() < probability,
  };
};
