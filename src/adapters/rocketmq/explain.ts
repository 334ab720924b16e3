import { types } from 'node:util';

/** One line: the variable, what was tried, and the remedy. Errors of the client are known by name: its classes are loaded late. */
export const explainFailure = (
  error: unknown,
  tried: { readonly endpoints: string; readonly what: string },
): string => {
  const causes = causesOf(error);
  const text = causes.at(-1)?.message ?? String(error);
  const at = `${tried.what} at ${tried.endpoints}: ${text.split('\n')[0] ?? ''}`;
  if (causes.some((each) => each.name === 'NotFoundException' || /not exist/i.test(each.message))) {
    return `AIVEDIO_ROCKETMQ_PREFIX: ${at}; create what is missing: npm run cli -- bus create`;
  }
  if (causes.some((each) => each instanceof WrongTypeError)) {
    return `AIVEDIO_ROCKETMQ_PREFIX: ${at}; set its message type: npm run cli -- bus create`;
  }
  if (
    causes.some(({ name }) => name === 'UnauthorizedException' || name === 'ForbiddenException')
  ) {
    return `AIVEDIO_ROCKETMQ_ACCESS_KEY: ${at}; give a key that may use topics and groups of the prefix`;
  }
  return `AIVEDIO_ROCKETMQ_ENDPOINTS: ${at}; start the RocketMQ proxy there, or correct the address (host:port of its gRPC server)`;
};

/** The topic takes other messages than those we send. */
export class WrongTypeError extends Error {}

/** The message alone is at fault: it would be refused wherever it is sent. */
export const isTooLarge = (error: unknown): boolean =>
  causesOf(error).some(
    // The client refuses by itself what is above the limit that the server told it.
    (each) =>
      each.name === 'PayloadTooLargeException' || each.message.includes('body size exceeds'),
  );

const causesOf = (error: unknown): Error[] => {
  const causes: Error[] = [];
  for (let each = error; types.isNativeError(each) && causes.length < 5; each = each.cause) {
    causes.push(each);
  }
  return causes;
};
