import { Client } from 'undici';
import { performExchange } from './exchange';
import type { Exchange, ExchangeLimits } from './exchange';
import { buildPhasedConnector } from './phased-connector';
import type { ConnectLimits } from './phased-connector';

export type OneShotLimits = ConnectLimits & ExchangeLimits;

/**
 * Sends one POST of JSON, once, over a connection of its own, and never rejects. A kept-alive
 * connection would be cheaper, but a server may close it at the very moment of writing, and a submit
 * lost that way cannot be told from an accepted one.
 */
export async function postOnce(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  limits: OneShotLimits,
): Promise<Exchange> {
  if (!URL.canParse(url)) return { kind: 'NOT_SENT', code: 'INVALID_URL' };
  const { origin, pathname, search } = new URL(url);
  const client = new Client(origin, { connect: buildPhasedConnector(limits), pipelining: 0 });
  try {
    return await performExchange(
      client,
      origin,
      {
        method: 'POST',
        path: pathname + search,
        headers: { ...headers, 'content-type': 'application/json' },
        body,
      },
      limits,
    );
  } finally {
    await client.destroy();
  }
}
