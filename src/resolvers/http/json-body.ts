import express, { type ErrorRequestHandler, type Request, type RequestHandler } from 'express';

import type { Log } from '../../ports/log';
import { ERROR_RULES, type ErrorCode } from '../errors';
import { isTextTooDeep, JSON_TOO_DEEP, QUERY_TOO_DEEP } from '../input-depth';
import { currentRequestId } from './request-scope';

export const BODY_BYTES_MAX = 256 * 1024;

/** For those who import invoices: a text of 1 MiB, with whatever JSON makes of its quotes. */
const LARGE_BODY_BYTES_MAX = 2_200_000;

const parserOf = (limit: number): RequestHandler =>
  express.json({
    limit,
    type: ['application/json', 'application/graphql+json'],
    verify: (_request, _response, bytes, encoding) => judgeBytes(bytes, encoding),
  });

/**
 * Reads JSON bodies; the GraphQL server itself refuses other types. What nests too deep never reaches it. Only who is asked
 * for by a large body, and found to be allowed one, has it read.
 */
export const createBodyParser = (
  maySendMuch: (request: Request) => Promise<boolean>,
): RequestHandler[] => [
  chooseParser(maySendMuch),
  (request, _response, next) => {
    // The GraphQL server tells what is wrong with a request without a body; it only needs the property.
    request.body ??= {};
    judgeTexts(request);
    next();
  },
];

const chooseParser = (maySendMuch: (request: Request) => Promise<boolean>): RequestHandler => {
  const [usual, large] = [parserOf(BODY_BYTES_MAX), parserOf(LARGE_BODY_BYTES_MAX)];
  return async (request, response, next) => {
    const isLarge = Number(request.headers['content-length'] ?? 0) > BODY_BYTES_MAX;
    const parse = isLarge && (await maySendMuch(request)) ? large : usual;
    parse(request, response, next);
  };
};

/** A fault of the request; `type` is a key of `CODES`, as those of the body parser are. */
class UnreadableRequestError extends Error {
  readonly status = 400;
  constructor(readonly type: keyof typeof CODES) {
    super(type);
  }
}

const judgeBytes = (bytes: Uint8Array, encoding: string): void => {
  if (encoding.toLowerCase() !== 'utf-8') throw new UnreadableRequestError('charset.unsupported');
  if (isTextTooDeep(decode(bytes), 'json')) throw new UnreadableRequestError('json.too.deep');
};

/** The body parser would put U+FFFD where bytes are none of UTF-8, and a prompt would silently be another one. */
const decode = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UnreadableRequestError('utf8.invalid');
  }
};

/** Judges the document, and what a GET carries as JSON in its URL. */
const judgeTexts = (request: Request): void => {
  const inUrl = new URLSearchParams(request.url.split('?').slice(1).join('?'));
  const { query } = request.body as { readonly query?: unknown };
  if ([query, ...inUrl.getAll('query')].some((text) => isDeep(text, 'query'))) {
    throw new UnreadableRequestError('query.too.deep');
  }
  const inJson = ['variables', 'extensions'].flatMap((name) => inUrl.getAll(name));
  if (inJson.some((text) => isDeep(text, 'json'))) {
    throw new UnreadableRequestError('json.too.deep');
  }
};

const isDeep = (text: unknown, language: 'json' | 'query'): boolean =>
  typeof text === 'string' && isTextTooDeep(text, language);

const CODES = {
  'entity.too.large': {
    code: 'PAYLOAD_TOO_LARGE',
    message: `A request has at most ${BODY_BYTES_MAX} bytes. Upload files with assetUploadCreate.`,
  },
  'entity.parse.failed': { code: 'BAD_JSON', message: 'The body is not valid JSON.' },
  'utf8.invalid': { code: 'BAD_JSON', message: 'The body is not valid UTF-8.' },
  'json.too.deep': { code: 'INPUT_TOO_DEEP', message: JSON_TOO_DEEP },
  'query.too.deep': { code: 'INPUT_TOO_DEEP', message: QUERY_TOO_DEEP },
  'encoding.unsupported': {
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: 'Send the body plain, or with gzip, deflate or br.',
  },
  'charset.unsupported': { code: 'UNSUPPORTED_MEDIA_TYPE', message: 'Send the body as UTF-8.' },
  'request.size.invalid': {
    code: 'BAD_REQUEST',
    message: 'The body is not as long as its header says.',
  },
  'request.aborted': { code: 'BAD_REQUEST', message: 'The body ended early.' },
} as const satisfies Record<string, Fault>;

interface Fault {
  readonly code: ErrorCode;
  readonly message: string;
}

const faultOf = (type: unknown): Fault | undefined =>
  typeof type === 'string' && Object.hasOwn(CODES, type)
    ? CODES[type as keyof typeof CODES]
    : undefined;

/** What failed before there was a GraphQL request answers in GraphQL's shape all the same. */
export const createErrorAnswer =
  (log: Log): ErrorRequestHandler =>
  (error: unknown, _request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    const requestId = currentRequestId();
    const { type, status } = error as { type?: unknown; status?: unknown };
    const known = faultOf(type);
    if (known === undefined && !(typeof status === 'number' && status < 500)) {
      log.error('request failed', { requestId, error });
    }
    const { code, message } = known ?? fallbackOf(status);
    const { httpStatus, retryable } = ERROR_RULES[code];
    response.status(httpStatus).json({
      errors: [{ message, extensions: { code, retryable, requestId } }],
    });
  };

const fallbackOf = (status: unknown): Fault =>
  typeof status === 'number' && status >= 400 && status < 500
    ? { code: 'BAD_REQUEST', message: 'The request cannot be read.' }
    : {
        code: 'INTERNAL',
        message: 'Something broke on our side; give the request id to support.',
      };
