import type { Span } from './scenario';

/** Numbers from 0 up to 1, given from outside: the same ones make the same run. */
export type Random = () => number;

/** Time until the next of events that come at random at a rate. */
export const drawGapS = (ratePerS: number, random: Random): number =>
  -Math.log(1 - random()) / ratePerS;

/** A duration with the given mean whose logarithm is normally distributed: most are shorter, a few much longer. */
export const drawDurationS = (meanS: number, spread: number, random: Random): number => {
  if (spread === 0) return meanS;
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return meanS * Math.exp(spread * normal - (spread * spread) / 2);
};

/** Draws one of several, each as often as its share says. */
export const createShareDraw = <T extends { readonly share: number }>(
  many: readonly T[],
  random: Random,
): (() => T) => {
  let sum = 0;
  const upTo = many.map(({ share }) => (sum += share));
  return () => {
    const drawn = random() * sum;
    let [low, high] = [0, many.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (drawn < (upTo[middle] ?? 0)) high = middle;
      else low = middle + 1;
    }
    return many[low] as T;
  };
};

export const isWithin = ({ fromS, forS }: Span, nowS: number): boolean =>
  nowS >= fromS && nowS < fromS + forS;
