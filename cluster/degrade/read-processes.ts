import type { ClusterProcess } from '../list-processes';

const ANSWER_LIMIT_MS = 8_000;

export interface Readiness {
  readonly status: number;
  readonly word: string;
  readonly parts: ReadonlyMap<string, boolean>;
}

/** What a process says of itself at `/readyz`; null when it does not answer. */
export const readReadiness = async ({ healthUrl }: ClusterProcess): Promise<Readiness | null> => {
  const answer = await get(`${healthUrl}/readyz`);
  if (answer === null) return null;
  const body = JSON.parse(answer.text) as {
    status: string;
    parts?: readonly { name: string; ok: boolean }[];
  };
  return {
    status: answer.status,
    word: body.status,
    parts: new Map((body.parts ?? []).map(({ name, ok }) => [name, ok])),
  };
};

/** The samples of a metric at `/metrics` that bear the labels; empty when the process does not answer. */
export const readMetric = async (
  { healthUrl }: ClusterProcess,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<readonly number[]> => {
  const answer = await get(`${healthUrl}/metrics`);
  return (answer?.text ?? '').split('\n').flatMap((line) => {
    const [, found, given = '', value] = /^([a-z0-9_]+)(?:\{(.*)\})? (\S+)$/i.exec(line) ?? [];
    if (found !== name) return [];
    const bears = Object.entries(labels).every(([key, word]) => given.includes(`${key}="${word}"`));
    return bears ? [Number(value)] : [];
  });
};

const get = async (url: string): Promise<{ status: number; text: string } | null> => {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
    return { status: answer.status, text: await answer.text() };
  } catch {
    return null;
  }
};
