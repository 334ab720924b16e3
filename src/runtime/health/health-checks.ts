import type {
  Health,
  HealthCheck,
  HealthReport,
  HealthWeight,
  PartHealth,
} from '../../ports/health';

export interface HealthPart {
  /** As it stands in `/readyz`, in the metrics and in the runbook: `database`, `bus`, `objects`. */
  readonly name: string;
  readonly check: HealthCheck;
  readonly weight: HealthWeight;
  /** A check that takes longer has failed. */
  readonly timeLimitMs?: number;
  /** An answer this young is given again, so that probes from many sides cost one question. */
  readonly maxAgeMs?: number;
}

export interface HealthChecks {
  /** Adds a part; a part of the same name is replaced. */
  add(part: HealthPart): void;
  /** What every part says now, or said within its age. Never rejects. */
  read(): Promise<HealthReport>;
  /** From now on this process wants no new work: not ready, whatever its parts say. */
  drain(): void;
  isDraining(): boolean;
}

export interface HealthChecksOptions {
  /** Milliseconds that never go back. */
  readonly nowMs?: () => number;
  /** Called when a part is lost or comes back, also at its first answer when that is a loss. */
  readonly onChange?: (part: PartHealth) => void;
}

const TIME_LIMIT_MS = 3_000;
const MAX_AGE_MS = 2_000;

/** The parts that this process stands on, asked at most as often as their age allows and never twice at the same time. */
export const createHealthChecks = (options: HealthChecksOptions = {}): HealthChecks => {
  const nowMs = options.nowMs ?? (() => performance.now());
  const parts = new Map<string, ReturnType<typeof createAsker>>();
  let draining = false;
  return {
    add: (part) => void parts.set(part.name, createAsker(part, nowMs, options.onChange)),
    read: async () => {
      const answers = await Promise.all([...parts.values()].map((part) => part.ask()));
      return {
        status: draining ? 'draining' : judge(answers),
        parts: answers.map(({ part }) => part),
      };
    },
    drain: () => {
      draining = true;
    },
    isDraining: () => draining,
  };
};

interface Answer {
  readonly part: PartHealth;
  /** It answered well at least once since this process began. */
  readonly wasOk: boolean;
}

const judge = (answers: readonly Answer[]): HealthReport['status'] => {
  const failed = answers.filter(({ part }) => !part.ok);
  const stops = failed.some(
    ({ part, wasOk }) => part.weight === 'REQUIRED' || (part.weight === 'DEGRADING' && !wasOk),
  );
  if (stops) return 'not ready';
  return failed.length > 0 ? 'degraded' : 'ready';
};

const createAsker = (
  { name, check, weight, timeLimitMs = TIME_LIMIT_MS, maxAgeMs = MAX_AGE_MS }: HealthPart,
  nowMs: () => number,
  onChange: HealthChecksOptions['onChange'],
) => {
  let asking: Promise<Answer> | null = null;
  let last: Answer | null = null;
  let lastAtMs = 0;

  const askNow = async (): Promise<Answer> => {
    const health = await within(timeLimitMs, check);
    const part: PartHealth = { name, weight, ok: health.ok, detail: health.detail };
    const before = last;
    last = { part, wasOk: health.ok || before?.wasOk === true };
    lastAtMs = nowMs();
    if (health.ok !== (before?.part.ok ?? true)) onChange?.(part);
    return last;
  };
  return {
    ask: (): Promise<Answer> => {
      if (last !== null && nowMs() - lastAtMs < maxAgeMs) return Promise.resolve(last);
      asking ??= askNow().finally(() => {
        asking = null;
      });
      return asking;
    },
  };
};

/** A rejection and a silence are answers, too. A check that hangs is left behind. */
const within = async (timeLimitMs: number, check: HealthCheck): Promise<Health> => {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<Health>((resolve) => {
    timer = setTimeout(
      () => resolve({ ok: false, detail: `no answer within ${timeLimitMs} ms` }),
      timeLimitMs,
    );
  });
  try {
    return await Promise.race([Promise.resolve().then(check), silence]);
  } catch (error) {
    return { ok: false, detail: describe(error) };
  } finally {
    clearTimeout(timer);
  }
};

const DETAIL_CHARS_MAX = 500;

/** The message and those of its causes: the last one says what the system said. */
const describe = (error: unknown): string => {
  const messages: string[] = [];
  let at = error as { readonly message?: string; readonly cause?: unknown } | null | undefined;
  while (at?.message !== undefined && messages.length < 4) {
    messages.push(at.message);
    at = at.cause as typeof at;
  }
  return (messages.length === 0 ? String(error) : messages.join(': ')).slice(0, DETAIL_CHARS_MAX);
};
