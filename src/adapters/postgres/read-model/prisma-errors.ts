import { DatabaseUnavailableError } from '../../../ports/unit-of-work';
import { isConnectionFault } from '../database-errors';
import { Prisma } from '../generated/client';

/** Prisma's own words for: the server is out of reach, or no connection to it was free in time. */
const UNAVAILABLE_CODES = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2037']);

const CAUSES_MAX = 5;

/** Prisma wraps the driver's error, sometimes twice; the code that matters may stand at any depth. */
const isUnavailable = (error: unknown): boolean => {
  let at: unknown = error;
  for (let depth = 0; depth < CAUSES_MAX && at !== undefined && at !== null; depth += 1) {
    if (isConnectionFault(at)) return true;
    if (at instanceof Prisma.PrismaClientKnownRequestError && UNAVAILABLE_CODES.has(at.code)) {
      return true;
    }
    if (at instanceof Prisma.PrismaClientInitializationError) return true;
    if (isConnectionKind(at)) return true;
    at = innerOf(at);
  }
  return false;
};

/** A code that Prisma has no word for (P2039) carries the driver's error beside it, not as its cause. */
const innerOf = (error: unknown): unknown => {
  const { cause, meta } = error as { cause?: unknown; meta?: { driverAdapterError?: unknown } };
  return cause ?? meta?.driverAdapterError;
};

const CONNECTION_KINDS = new Set([
  'ConnectionClosed',
  'DatabaseNotReachable',
  'SocketTimeout',
  'TooManyConnections',
]);

const isConnectionKind = (error: unknown): boolean => {
  const { kind, originalCode } = error as { kind?: unknown; originalCode?: unknown };
  return (
    (typeof kind === 'string' && CONNECTION_KINDS.has(kind)) ||
    (typeof originalCode === 'string' && /^(08|57P)/.test(originalCode))
  );
};

type Methods = Readonly<Record<string, (...args: never[]) => Promise<unknown>>>;

/** The same methods, whose rejections are `DatabaseUnavailableError` when the database was out of reach. */
export const translateFaults = <T extends object>(target: T): T =>
  Object.fromEntries(
    Object.entries(target as unknown as Methods).map(([name, method]) => [
      name,
      (...args: never[]) =>
        method(...args).catch((error: unknown) => {
          if (!isUnavailable(error)) throw error;
          throw new DatabaseUnavailableError('The database is out of reach', { cause: error });
        }),
    ]),
  ) as unknown as T;
