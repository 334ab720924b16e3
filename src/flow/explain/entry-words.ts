import { formatCredits } from '../../domain/kernel/money';
import { assertNever } from '../../domain/kernel/assert-never';
import type { TimelineEntry } from '../../ports/read-model';

/** One entry of the timeline as a sentence for people. */
export const entryInWords = (entry: TimelineEntry): string => {
  const fact = (name: string): string | null => {
    const value = entry.facts[name];
    return value === null || value === undefined ? null : String(value);
  };
  const when = (name: string, text: (value: string) => string): string => {
    const value = fact(name);
    return value === null ? '' : text(value);
  };
  switch (entry.kind) {
    case 'API_CALL': {
      const by = fact('apiKeyName') ?? 'a caller without a key';
      return `Created by ${by} with the idempotency key ${fact('idempotencyKey') ?? ''}`;
    }
    case 'TRANSITION':
      return `${fact('from') ?? 'nothing'} → ${fact('to') ?? ''} by ${entry.what}`;
    case 'IGNORED':
      return `${entry.what} changed nothing: ${fact('reason') ?? ''}`;
    case 'ATTEMPT':
      return `Attempt ${fact('number') ?? ''} ${entry.what}${when('status', (s) => `: ${s}`)}${when('errorClass', (e) => `, ${e}`)}`;
    case 'PROVIDER_ANSWER':
      return `The provider said ${fact('providerStatus') ?? ''}${repeats(entry.facts['duplicates'])}`;
    case 'CALLBACK':
      return entry.what === 'refused'
        ? `A callback was refused: ${fact('reason') ?? ''}, ${fact('refusals') ?? ''} time(s)`
        : `A callback said ${fact('providerStatus') ?? ''}${repeats(entry.facts['duplicates'])}`;
    case 'LEDGER':
      return `${entry.what} ${formatCredits(BigInt(fact('amountMicros') ?? 0))} credits: ${fact('reason') ?? ''}`;
    case 'MODERATION':
      return `${fact('subject') ?? ''}: ${fact('verdict') ?? ''}${when('reason', (reason) => `, ${reason}`)}`;
    case 'MEDIA':
      return `${entry.what}: ${fact('status') ?? ''}`;
    case 'FINDING':
      return `${entry.what}${when('done', (done) => `: ${done}`)}${when('resolvedAt', () => ', over')}`;
    case 'OPERATOR':
      return `An operator did ${entry.what}`;
    default:
      return assertNever(entry.kind, 'timeline kind');
  }
};

const repeats = (duplicates: unknown): string =>
  typeof duplicates === 'number' && duplicates > 0 ? `, and again ${duplicates} time(s)` : '';
