/** One entry of requirements.json: a thing the product or its tests need besides Node. */
export interface Requirement {
  readonly name: string;
  readonly what: string;
  readonly required: boolean;
  readonly commands?: readonly string[];
  readonly anyCommand?: readonly string[];
  readonly anyFile?: readonly string[];
  readonly npmPackages?: readonly string[];
  /** Below the cache folder of this account. */
  readonly cacheFile?: string;
  readonly majorMin?: number;
  readonly debian: string;
  readonly macos: string;
  readonly windows: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

export const requirements: readonly Requirement[];
export function findPrograms(
  requirement: Requirement,
  environment?: Environment,
): readonly string[] | undefined;
