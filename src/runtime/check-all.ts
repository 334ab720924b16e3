import { ConfigError } from './config';

/** Runs every check, and tells the problems of all of them at once as one ConfigError. Anything else that fails is thrown as it is. */
export const checkAll = async (checks: readonly (() => Promise<void>)[]): Promise<void> => {
  const outcomes = await Promise.allSettled(checks.map((check) => check()));
  const failures = outcomes.flatMap((outcome): unknown[] =>
    outcome.status === 'rejected' ? [outcome.reason] : [],
  );
  const problems = failures.flatMap((each) => (each instanceof ConfigError ? each.problems : []));
  if (problems.length > 0) throw new ConfigError(problems);
  if (failures.length > 0) throw failures[0];
};
