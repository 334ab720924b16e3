import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { ArgumentValidationError } from 'type-graphql';

import { ObjectStoreUnavailableError } from '../ports/object-store';
import type { Log } from '../ports/log';
import { LedgerUnavailableError } from '../ports/stores/money-store';
import { DatabaseUnavailableError } from '../ports/unit-of-work';

interface ErrorRule {
  readonly httpStatus: number;
  readonly retryable: boolean;
}

/** Every code of a top-level error. Refusals of a use case are no errors: they are `userErrors` of a payload. */
export const ERROR_RULES = {
  UNAUTHENTICATED: { httpStatus: 401, retryable: false },
  FORBIDDEN: { httpStatus: 403, retryable: false },
  NOT_FOUND: { httpStatus: 200, retryable: false },
  BAD_JSON: { httpStatus: 400, retryable: false },
  BAD_REQUEST: { httpStatus: 400, retryable: false },
  INPUT_TOO_DEEP: { httpStatus: 400, retryable: false },
  PAYLOAD_TOO_LARGE: { httpStatus: 413, retryable: false },
  UNSUPPORTED_MEDIA_TYPE: { httpStatus: 415, retryable: false },
  GRAPHQL_PARSE_FAILED: { httpStatus: 400, retryable: false },
  GRAPHQL_VALIDATION_FAILED: { httpStatus: 400, retryable: false },
  OPERATION_RESOLUTION_FAILURE: { httpStatus: 400, retryable: false },
  BAD_USER_INPUT: { httpStatus: 400, retryable: false },
  QUERY_TOO_COMPLEX: { httpStatus: 400, retryable: false },
  PAGE_SIZE_EXCEEDED: { httpStatus: 400, retryable: false },
  CURSOR_INVALID: { httpStatus: 400, retryable: false },
  IDEMPOTENCY_IN_PROGRESS: { httpStatus: 409, retryable: true },
  RATE_LIMITED: { httpStatus: 429, retryable: true },
  TOO_MANY_SUBSCRIPTIONS: { httpStatus: 429, retryable: true },
  SUBSCRIBER_TOO_SLOW: { httpStatus: 200, retryable: true },
  OVERLOADED: { httpStatus: 503, retryable: true },
  SERVICE_UNAVAILABLE: { httpStatus: 503, retryable: true },
  BILLING_UNAVAILABLE: { httpStatus: 503, retryable: true },
  INTERNAL: { httpStatus: 500, retryable: false },
} as const satisfies Record<string, ErrorRule>;
export type ErrorCode = keyof typeof ERROR_RULES;

/** When a retryable fault is worth another try. */
export const RETRY_AFTER_S = 1;

/** An error that may be shown as it is. */
export class ApiError extends GraphQLError {
  constructor(
    readonly code: ErrorCode,
    message: string,
    extensions: Readonly<Record<string, unknown>> = {},
    retryAfterS = RETRY_AFTER_S,
    moreHeaders: ReadonlyMap<string, string> = new Map(),
  ) {
    const { httpStatus: status, retryable } = ERROR_RULES[code];
    // Only the HTTP answer reads these; `toPublicError` takes them out.
    const headers = retryable
      ? { headers: new Map([...moreHeaders, ['retry-after', String(retryAfterS)]]) }
      : {};
    super(message, {
      extensions: { ...extensions, code, retryable, http: { status, ...headers } },
    });
  }
}

export const unavailable = (): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', 'A part of the service is out of reach; try again.');

export const overloaded = (retryAfterMs: number): ApiError =>
  new ApiError(
    'OVERLOADED',
    'New generations are not accepted at present, and nothing was charged; repeat the request later with the same key.',
    { retryAfterMs },
    Math.ceil(retryAfterMs / 1_000),
  );

const BILLING_UNAVAILABLE =
  'Credits cannot be booked at present, and nothing was accepted; try again.';

/** What a resolver threw, from below the wrapping of the executor. */
const innermost = (error: unknown): unknown => {
  let at = error;
  while (at instanceof GraphQLError && !(at instanceof ApiError) && at.originalError != null) {
    at = at.originalError;
  }
  return at;
};

export const isUnavailable = (error: unknown): boolean => {
  const inner = innermost(error);
  return (
    inner instanceof DatabaseUnavailableError ||
    inner instanceof ObjectStoreUnavailableError ||
    inner instanceof LedgerUnavailableError ||
    (inner instanceof ApiError && inner.code === 'SERVICE_UNAVAILABLE')
  );
};

export interface ErrorScope {
  readonly requestId: string;
  readonly log: Log;
}

/**
 * The one place where errors become public: a stable code, whether a retry may help, and the request id; never a stack, and
 * of an internal fault nothing but its number in the log.
 */
export const toPublicError = (
  formatted: GraphQLFormattedError,
  error: unknown,
  { requestId, log }: ErrorScope,
): GraphQLFormattedError => {
  const place = {
    ...(formatted.locations === undefined ? {} : { locations: formatted.locations }),
    ...(formatted.path === undefined ? {} : { path: formatted.path }),
  };
  const shown = (
    code: ErrorCode,
    message: string,
    more: Readonly<Record<string, unknown>> = {},
  ): GraphQLFormattedError => ({
    message,
    ...place,
    extensions: { ...more, code, retryable: ERROR_RULES[code].retryable, requestId },
  });
  const inner = innermost(error);
  if (inner instanceof ApiError) {
    const { http: _http, ...more } = inner.extensions;
    return shown(inner.code, inner.message, more);
  }
  if (inner instanceof ArgumentValidationError) {
    const violations = listViolations(inner);
    return shown('BAD_USER_INPUT', violations.map(({ message }) => message).join('; '), {
      violations,
    });
  }
  if (inner instanceof LedgerUnavailableError) {
    log.warn('the ledger was out of reach', { requestId, path: formatted.path?.join('.') });
    return shown('BILLING_UNAVAILABLE', BILLING_UNAVAILABLE);
  }
  if (isUnavailable(inner)) {
    const { message } = unavailable();
    log.warn('a part was out of reach', {
      requestId,
      path: formatted.path?.join('.'),
      error: String((inner as Error).cause ?? inner),
    });
    return shown('SERVICE_UNAVAILABLE', message);
  }
  if (inner instanceof GraphQLError) return shownOfLibrary(formatted, shown);
  log.error('request failed', { requestId, path: formatted.path?.join('.'), error: inner });
  return shown('INTERNAL', 'Something broke on our side; give the request id to support.');
};

type Show = (
  code: ErrorCode,
  message: string,
  more?: Readonly<Record<string, unknown>>,
) => GraphQLFormattedError;

/** Errors of the GraphQL library: syntax, validation, values that do not fit their type. */
const shownOfLibrary = (formatted: GraphQLFormattedError, shown: Show): GraphQLFormattedError => {
  const { message } = formatted;
  if (/^Syntax Error: Document contains more /.test(message)) {
    return shown('QUERY_TOO_COMPLEX', message);
  }
  if (message.startsWith('Syntax Error')) return shown('GRAPHQL_PARSE_FAILED', message);
  const code = formatted.extensions?.['code'];
  return typeof code === 'string' && code in ERROR_RULES
    ? shown(code as ErrorCode, message)
    : shown('BAD_REQUEST', message);
};

const listViolations = (
  error: ArgumentValidationError,
): { readonly field: string; readonly message: string }[] =>
  error.extensions.validationErrors.flatMap(({ property, constraints }) =>
    Object.values(constraints ?? {}).map((message) => ({ field: property, message })),
  );
