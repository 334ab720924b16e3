import { parseArgs } from 'node:util';

/** Everything the sandbox provider can be told; times in milliseconds. */
export interface SandboxConfig {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Folder of the logs of jobs and charges and of the rendered files. */
  readonly dataDir: string;
  readonly apiKey: string;
  /** Standard Webhooks form: `whsec_` and a base64 key. */
  readonly webhookSecret: string;
  /** Jobs that may be queued or running before a create answers 429. */
  readonly concurrency: number;
  /** ffmpeg processes at once. */
  readonly renderSlots: number;
  readonly render: 'instant' | 'real';
  readonly ffmpegPath: string | null;
  /** How long a signed output URL lives. */
  readonly urlTtlMs: number;
  /** Wait before the second try of a callback; doubles with each further try. */
  readonly callbackBackoffMs: number;
  readonly callbackTriesMax: number;
}

const TEXT = { type: 'string' } as const;
const OPTIONS = {
  host: TEXT,
  port: TEXT,
  data: TEXT,
  'api-key': TEXT,
  'webhook-secret': TEXT,
  concurrency: TEXT,
  'render-slots': TEXT,
  render: TEXT,
  ffmpeg: TEXT,
  // Taken so that both tools can be named alike; nothing here needs it.
  ffprobe: TEXT,
  'url-ttl-ms': TEXT,
  'callback-backoff-ms': TEXT,
  'callback-tries': TEXT,
} as const;

type OptionName = keyof typeof OPTIONS;

/**
 * Reads arguments first, then `AIVEDIO_SANDBOX_<NAME>` (`--api-key` is `AIVEDIO_SANDBOX_API_KEY`).
 * Throws an Error with a sentence for the person at the terminal when something is missing or wrong.
 */
export function readConfig(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): SandboxConfig {
  const { values } = parseArgs({ args: [...argv], options: OPTIONS, strict: true });
  const text = (name: OptionName): string | null =>
    values[name] ?? env[`AIVEDIO_SANDBOX_${name.toUpperCase().replaceAll('-', '_')}`] ?? null;
  const required = (name: OptionName): string => {
    const value = text(name);
    if (value === null || value === '') throw new Error(`--${name} is required`);
    return value;
  };
  const count = (name: OptionName, fallback: number, min: number): number => {
    const value = text(name);
    if (value === null) return fallback;
    const parsed = Number(value);
    if (!Number.isSafeInteger(parsed) || parsed < min) {
      throw new Error(`--${name} must be a whole number of at least ${min}, not "${value}"`);
    }
    return parsed;
  };
  const render = text('render') ?? 'real';
  if (render !== 'real' && render !== 'instant') {
    throw new Error(`--render must be "real" or "instant", not "${render}"`);
  }
  return {
    host: text('host') ?? '127.0.0.1',
    port: count('port', 0, 0),
    dataDir: required('data'),
    apiKey: required('api-key'),
    webhookSecret: requireWebhookSecret(required('webhook-secret')),
    concurrency: count('concurrency', 16, 1),
    renderSlots: count('render-slots', 2, 1),
    render,
    // The product hands its children the ffmpeg it found; the sandbox may use the same.
    ffmpegPath: text('ffmpeg') ?? env['AIVEDIO_FFMPEG'] ?? null,
    urlTtlMs: count('url-ttl-ms', 3_600_000, 1),
    callbackBackoffMs: count('callback-backoff-ms', 500, 1),
    callbackTriesMax: count('callback-tries', 7, 1),
  };
}

function requireWebhookSecret(secret: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  if (!secret.startsWith('whsec_') || key.length < 16) {
    throw new Error('--webhook-secret must be whsec_ and a base64 key of at least 16 bytes');
  }
  return secret;
}
