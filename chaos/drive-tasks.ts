import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import type { GraphqlAnswer, GraphqlClient } from '../src/client/graphql-client';
import { GENERATION_CREATE, GENERATION_UPDATED, type UserError } from '../src/demo/operations';
import { uploadPicture } from '../src/demo/upload-picture';
import { toUuid } from '../src/resolvers/public-id';
import type { PlannedTask } from './make-plan';
import type { World } from './open-world';

/** Stands in every prompt, and must stand in no log, message or error. */
export const CANARY = 'quokka-canary-7f3a';
/** A client gives up a create after this; the key stays, so it is the same create all the time. */
const PATIENCE_MS = 120_000;
const TRY_AGAIN_MS = 700;
const CANCEL = `mutation Cancel($input: GenerationCancelInput!) {
  generationCancel(input: $input) { stopped repeated userErrors { code } }
}`;
/** A PNG of one pixel. */
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** What the clients were told and saw, beside what the database says. */
export interface ClientFacts {
  /** Ids of accepted generations. */
  readonly accepted: Set<string>;
  /** Codes of refusals, counted. */
  readonly refused: Map<string, number>;
  replays: number;
  conflicts: number;
  /** Requests that had to be sent again, since nobody answered or the answer was 5xx. */
  unanswered: number;
  uploads: number;
  /** Versions that each subscriber saw, in order. */
  readonly sightings: Map<string, number[]>;
  /** Subscriptions that ended with an error while their generation went on, by what was said. */
  readonly lostSubscriptions: Map<string, number>;
  /** What a client must never be told: one key, two generations; a repeat that is none. */
  readonly contradictions: string[];
  cancels: number;
}

export const createClientFacts = (): ClientFacts => ({
  accepted: new Set(),
  refused: new Map(),
  replays: 0,
  conflicts: 0,
  unanswered: 0,
  uploads: 0,
  sightings: new Map(),
  lostSubscriptions: new Map(),
  contradictions: [],
  cancels: 0,
});

interface CreateAnswer {
  readonly generationCreate: {
    readonly generation: { readonly id: string } | null;
    readonly replayed: boolean;
    readonly userErrors: readonly UserError[];
  };
}

/** One client's doings for one generation; ends when everything it asked for was answered. */
export const driveTask = async (
  world: World,
  facts: ClientFacts,
  task: PlannedTask,
): Promise<void> => {
  const client = world.clients[task.client];
  if (client === undefined) throw new RangeError(`There is no client ${task.client}`);
  const imageAssetId = task.withPicture ? await upload(world, client, facts) : null;
  // A provider that is away just now takes none.
  if (task.queuedFault !== null) await world.queueFaults([task.queuedFault]).catch(() => undefined);
  const input = inputOf(task, imageAssetId);
  const answers = await Promise.all(
    Array.from({ length: task.sends }, () => create(client, facts, input)),
  );
  const ids = new Set(answers.flatMap((answer) => answer?.generationCreate.generation?.id ?? []));
  facts.replays += answers.filter((answer) => answer?.generationCreate.replayed === true).length;
  if (ids.size > 1) facts.contradictions.push(`one key made ${[...ids].join(' and ')}`);
  const [id] = ids;
  if (id === undefined) {
    const code = answers[0]?.generationCreate.userErrors[0]?.code ?? 'NO_ANSWER';
    count(facts.refused, code);
    return;
  }
  facts.accepted.add(toUuid('generation', id));
  if (task.subscribes) {
    subscribe(client, facts, id).catch((error: unknown) => {
      count(facts.lostSubscriptions, saidBy(error));
    });
  }
  if (task.conflicts) await conflict(client, facts, input);
  if (task.cancelAfterMs !== null) {
    await wait(task.cancelAfterMs);
    await ask(facts, () => client.request(CANCEL, { input: { generationId: id } }));
    facts.cancels += 1;
  }
};

const count = (counts: Map<string, number>, name: string): void => {
  counts.set(name, (counts.get(name) ?? 0) + 1);
};

/** An error, a close event of the socket, or the errors of a GraphQL answer. */
const saidBy = (error: unknown): string => {
  if (error instanceof Error) return error.message;
  const { code, reason } = error as { readonly code?: number; readonly reason?: string };
  return code === undefined ? JSON.stringify(error) : `closed with ${code} ${reason ?? ''}`;
};

const inputOf = (task: PlannedTask, imageAssetId: string | null) => ({
  idempotencyKey: `chaos-${task.index}`,
  model: 'sandbox-video-1',
  prompt: `a harbour at dawn, number ${task.index}, ${CANARY}`,
  durationMs: 2_000,
  resolution: '480p',
  seed: task.index,
  ...(imageAssetId === null ? {} : { imageAssetId }),
  ...(task.providerFaults.length === 0
    ? {}
    : { providerOptions: { fault: task.providerFaults, ...task.parameters } }),
});

const create = async (
  client: GraphqlClient,
  facts: ClientFacts,
  input: Readonly<Record<string, unknown>>,
): Promise<CreateAnswer | null> => {
  const answer = await ask(facts, () => client.request<CreateAnswer>(GENERATION_CREATE, { input }));
  return answer?.data ?? null;
};

const conflict = async (
  client: GraphqlClient,
  facts: ClientFacts,
  input: ReturnType<typeof inputOf>,
): Promise<void> => {
  const other = { ...input, prompt: `${input.prompt}, and a gull` };
  const answer = await create(client, facts, other);
  if (answer === null) return;
  const codes = answer.generationCreate.userErrors.map(({ code }) => code);
  if (codes.includes('IDEMPOTENCY_CONFLICT')) facts.conflicts += 1;
  else facts.contradictions.push(`another request under a used key: ${codes.join() || 'accepted'}`);
};

/** Sends until it is answered, as a client that holds an idempotency key may. */
const ask = async <T>(
  facts: ClientFacts,
  send: () => Promise<GraphqlAnswer<T>>,
): Promise<GraphqlAnswer<T> | null> => {
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until) {
    const answer = await bounded(send()).catch(() => null);
    if (answer !== null && answer.status < 500 && answer.status !== 429) {
      const inProgress = answer.errors.some(({ extensions }) => extensions?.['retryable'] === true);
      if (!inProgress) return answer;
    }
    facts.unanswered += 1;
    await wait(TRY_AGAIN_MS);
  }
  return null;
};

const ANSWER_LIMIT_MS = 20_000;

const bounded = async <T>(work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), ANSWER_LIMIT_MS);
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
};

const subscribe = async (client: GraphqlClient, facts: ClientFacts, id: string): Promise<void> => {
  const versions: number[] = [];
  facts.sightings.set(id, versions);
  const events = client.subscribe<{
    generationUpdated: { generation: { version: number } };
  }>(GENERATION_UPDATED, { id });
  for await (const { generationUpdated } of events) {
    versions.push(generationUpdated.generation.version);
  }
};

const upload = async (
  world: World,
  client: GraphqlClient,
  facts: ClientFacts,
): Promise<string | null> => {
  const file = path.join(world.dataDir, 'pixel.png');
  await writeFile(file, Buffer.from(PICTURE, 'base64'));
  for (let tries = 0; tries < 4; tries += 1) {
    // A client starts over with a new upload: what is left of the last one is swept.
    const id = await uploadPicture(client, file).catch(() => null);
    if (id !== null) {
      facts.uploads += 1;
      return id;
    }
    await wait(TRY_AGAIN_MS);
  }
  return null;
};
