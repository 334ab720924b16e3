import { DatabaseUnavailableError } from '../../ports/unit-of-work';

/** SQLSTATEs that say: the server cannot serve this connection now, whatever was asked. */
const UNAVAILABLE_STATES = new Set([
  '25P03', // ended for idling in a transaction
  '53300', // too many connections
  '57P01', // shut down by an administrator
  '57P02', // crashed
  '57P03', // starting up or shutting down
  '57P05', // ended for idling
]);
const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EHOSTUNREACH',
  'EAI_AGAIN',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);
/** `pg` gives these no code; the words are its own, not the server's. */
const CLIENT_WORDS =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|This socket has been ended|write after end)/;

/** Two transactions met; the same work from its start may well succeed. */
const COLLISION_STATES = new Set(['40001', '40P01']);
/** Keys whose winner a repeated statement sees, and then answers REPLAY instead of failing. */
const RACED_KEYS = new Set(['holds_task_id_key', 'credit_ledger_business_key_key']);

/** Read by shape: an error of Node's own need not be an `Error` of the realm that looks at it. */
interface Fault {
  readonly message: string;
  readonly code: string;
  readonly constraint: string;
  readonly errors: readonly unknown[];
}

const faultOf = (error: unknown): Fault => {
  const given = (typeof error === 'object' && error !== null ? error : {}) as Record<
    keyof Fault,
    unknown
  >;
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return {
    message: text(given.message),
    code: text(given.code),
    constraint: text(given.constraint),
    errors: Array.isArray(given.errors) ? (given.errors as unknown[]) : [],
  };
};

export const isConnectionFault = (error: unknown): boolean => {
  if (error instanceof DatabaseUnavailableError) return true;
  const { code, message, errors } = faultOf(error);
  return (
    UNAVAILABLE_STATES.has(code) ||
    SOCKET_CODES.has(code) ||
    code.startsWith('08') ||
    CLIENT_WORDS.test(message) ||
    errors.some(isConnectionFault)
  );
};

/** The error itself, or `DatabaseUnavailableError` around it when the database was out of reach. */
export const asDatabaseError = (error: unknown): unknown => {
  if (error instanceof DatabaseUnavailableError || !isConnectionFault(error)) return error;
  return new DatabaseUnavailableError('The database is out of reach', { cause: error });
};

/** A plan prepared before a migration added a column: only a fresh connection knows the new shape. */
export const isStalePlan = (error: unknown): boolean => {
  const { code, message } = faultOf(error);
  return code === '0A000' && message.startsWith('cached plan');
};

/** An earlier statement of the transaction failed, and this one was not looked at. */
export const isInFailedTransaction = (error: unknown): boolean => faultOf(error).code === '25P02';

const LOCK_TIMEOUT_STATES = new Set([
  '55P03', // a lock was not given within lock_timeout
  '57014', // ended by statement_timeout
]);

/** A statement that waited as long as it may: for a lock, or at all. */
export const isLockTimeout = (error: unknown): boolean =>
  LOCK_TIMEOUT_STATES.has(faultOf(error).code);

/** Whether the same work, begun anew, may succeed. */
export const isRepeatable = (error: unknown): boolean => {
  const { code, constraint } = faultOf(error);
  return (
    COLLISION_STATES.has(code) ||
    isStalePlan(error) ||
    (code === '23505' && RACED_KEYS.has(constraint))
  );
};
