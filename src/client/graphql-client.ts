import { createClient, type Client } from 'graphql-ws';
import WebSocket from 'ws';

export interface GraphqlAnswer<T> {
  readonly status: number;
  readonly data: T | null;
  readonly errors: readonly {
    readonly message: string;
    readonly extensions?: Readonly<Record<string, unknown>> & { readonly code?: string };
  }[];
  readonly headers: Headers;
}

/** A thin client of the product's GraphQL API over HTTP and WebSocket. */
export interface GraphqlClient {
  /** Never throws for what the API answers; rejects when it cannot be reached. */
  request<T>(
    query: string,
    variables: Readonly<Record<string, unknown>>,
  ): Promise<GraphqlAnswer<T>>;
  /** The events of a subscription until the server completes it; the socket is opened again when it breaks. */
  subscribe<T>(query: string, variables: Readonly<Record<string, unknown>>): AsyncIterable<T>;
  close(): Promise<void>;
}

export const createGraphqlClient = (baseUrl: string, apiKey: string): GraphqlClient => {
  let socket: Client | null = null;
  const openSocket = (): Client =>
    (socket ??= createClient({
      url: `${baseUrl.replace(/^http/, 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { apiKey },
      retryAttempts: 20,
      shouldRetry: () => true,
    }));
  return {
    request: async <T>(query: string, variables: Readonly<Record<string, unknown>>) => {
      const response = await fetch(`${baseUrl}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
        body: JSON.stringify({ query, variables }),
      });
      const body = (await response.json()) as {
        data?: T | null;
        errors?: GraphqlAnswer<T>['errors'];
      };
      return {
        status: response.status,
        data: body.data ?? null,
        errors: body.errors ?? [],
        headers: response.headers,
      };
    },
    subscribe: <T>(query: string, variables: Readonly<Record<string, unknown>>) =>
      events<T>(openSocket(), query, variables),
    close: async () => {
      await socket?.dispose();
    },
  };
};

const events = async function* <T>(
  client: Client,
  query: string,
  variables: Readonly<Record<string, unknown>>,
): AsyncIterable<T> {
  for await (const event of client.iterate<T>({ query, variables: { ...variables } })) {
    if (event.errors !== undefined && event.errors.length > 0) {
      throw new Error(event.errors.map((error) => error.message).join('; '));
    }
    if (event.data !== null && event.data !== undefined) yield event.data;
  }
};

/** The data of an answer that must have it. */
export const dataOf = <T>(answer: GraphqlAnswer<T>): T => {
  if (answer.data === null || answer.errors.length > 0) {
    const texts = answer.errors.map(
      (error) => `${error.extensions?.code ?? 'ERROR'}: ${error.message}`,
    );
    throw new Error(`The API refused (HTTP ${answer.status}): ${texts.join('; ')}`);
  }
  return answer.data;
};
