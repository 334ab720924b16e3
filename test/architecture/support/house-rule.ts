/** A rule of the house: `find` names every place that breaks it, `reason` and `fix` are what a reader is told. */
export interface HouseRule<Input> {
  readonly reason: string;
  readonly fix: string;
  readonly find: (input: Input) => readonly string[];
}

/** Throws an error that prints the reason, the fix and every place when `rule` is broken. */
export const expectKept = <Input>(rule: HouseRule<Input>, input: Input): void => {
  const places = rule.find(input);
  if (places.length === 0) return;
  const list = places.map((place) => `  - ${place}`).join('\n');
  throw new Error(`${rule.reason}\nFix: ${rule.fix}\nWhere:\n${list}`);
};
