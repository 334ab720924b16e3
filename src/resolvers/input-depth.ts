import { ApiError } from './errors';

/**
 * How many brackets may be open at once. Parsers and executors recurse: a body of 20 kB can nest deeper than their stack, so
 * depth is judged on the text, before anything recurses over it.
 */
export const INPUT_DEPTH = { json: 64, query: 200 } as const;

type Language = keyof typeof INPUT_DEPTH;

export const JSON_TOO_DEEP = `JSON may nest at most ${INPUT_DEPTH.json} levels.`;
export const QUERY_TOO_DEEP = `A document may nest at most ${INPUT_DEPTH.query} brackets.`;

const OPENING = new Set(['[', '{', '(']);
const CLOSING = new Set([']', '}', ')']);

/** Whether more brackets are open at once than the language may have; those in strings and comments do not count. */
export const isTextTooDeep = (text: string, language: Language): boolean => {
  const depthMax = INPUT_DEPTH[language];
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '"') at = endOfString(text, at, language);
    else if (char === '#' && language === 'query') at = endOfLine(text, at);
    else if (OPENING.has(char)) depth += 1;
    // A bracket too many is a syntax error for the parser; it must not make room for others here.
    else if (CLOSING.has(char)) depth = Math.max(0, depth - 1);
    if (depth > depthMax) return true;
  }
  return false;
};

/** The place of the last character of the string that begins at `start`; the end of the text where it is never closed. */
const endOfString = (text: string, start: number, language: Language): number => {
  if (language === 'query' && text.startsWith('"""', start)) return endOfBlock(text, start);
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '\\') at += 1;
    else if (char === '"') return at;
  }
  return text.length;
};

/** In a block string only `\"""` is an escape. */
const endOfBlock = (text: string, start: number): number => {
  let at = text.indexOf('"""', start + 3);
  while (at > 0 && text.charAt(at - 1) === '\\') at = text.indexOf('"""', at + 3);
  return at < 0 ? text.length : at + 2;
};

const endOfLine = (text: string, start: number): number => {
  for (let at = start; at < text.length; at += 1) {
    if (text.charAt(at) === '\n' || text.charAt(at) === '\r') return at;
  }
  return text.length;
};

/** Whether a value that came out of JSON nests deeper than JSON may. Does not recurse itself. */
export const isValueTooDeep = (value: unknown): boolean => {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > INPUT_DEPTH.json) return true;
    level = level.flatMap((each) =>
      each !== null && typeof each === 'object' ? Object.values(each).filter(isObject) : [],
    );
  }
  return false;
};

const isObject = (value: unknown): boolean => value !== null && typeof value === 'object';

/** The refusal of a payload that was already taken from JSON, or null. */
export const refuseDeepPayload = (payload: { readonly query: string }): ApiError | null => {
  if (isValueTooDeep(payload)) return new ApiError('INPUT_TOO_DEEP', JSON_TOO_DEEP);
  return isTextTooDeep(payload.query, 'query')
    ? new ApiError('INPUT_TOO_DEEP', QUERY_TOO_DEEP)
    : null;
};
