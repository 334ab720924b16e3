import {
  chooseRoute,
  refusalOf,
  type ModelOffer,
  type Route,
} from '../../../../src/domain/scheduling/routing';
import type { GenerationRequest } from '../../../../src/domain/generation/task';
import { newAccount, newOffer, newRequest } from '../support/new-offer';

const NOW = new Date('2026-12-01T12:00:00Z');
const LATER = new Date('2026-12-01T12:00:30Z');
const LAST = new Date('2026-12-01T12:05:00Z');

describe('whether a model can serve a request', () => {
  it.each<[string | null, Partial<GenerationRequest>, Partial<ModelOffer>]>([
    [null, {}, {}],
    [null, { durationMs: 8_000 }, {}],
    [null, { prompt: '🎬'.repeat(10) }, {}],
    [null, { withAudio: true }, { supportsAudio: true }],
    ['MODEL_UNAVAILABLE', {}, { status: 'PAUSED' }],
    ['MODEL_UNAVAILABLE', {}, { status: 'RETIRED' }],
    ['ASPECT_RATIO_UNSUPPORTED', { aspectRatio: '1:1' }, {}],
    ['RESOLUTION_UNSUPPORTED', { resolution: '4k' }, {}],
    ['DURATION_UNSUPPORTED', { durationMs: 2_000 }, {}],
    ['DURATION_UNSUPPORTED', { durationMs: 10_000 }, {}],
    ['DURATION_UNSUPPORTED', { durationMs: 5_000 }, {}],
    ['IMAGE_UNSUPPORTED', { imageAssetId: 'asset' }, { supportsImage: false }],
    ['AUDIO_UNSUPPORTED', { withAudio: true }, {}],
    ['PROMPT_TOO_LONG', { prompt: 'a'.repeat(11) }, {}],
  ])('%s for %j by %j', (expected, request, offer) => {
    expect(refusalOf(newOffer(offer), newRequest(request))).toBe(expected);
  });
});

const choose = (
  offers: readonly ModelOffer[],
  accounts: Parameters<typeof chooseRoute>[2],
  request: GenerationRequest = newRequest(),
): Route => chooseRoute(request, offers, accounts, NOW);

describe('where a submit goes', () => {
  it('takes the account with most room', () => {
    const roomy = newAccount({ id: 'north-b', concurrentMax: 20, inUse: 5 });
    const route = choose([newOffer()], [newAccount({ inUse: 1 }), roomy]);
    expect(route).toMatchObject({ kind: 'ROUTE', account: { id: 'north-b' } });
  });

  it('never swaps the model that was asked for', () => {
    const other = newOffer({ id: 'cinema-2', pricePerSecondMicros: { '720p': 1n } });
    expect(choose([other], [newAccount()])).toEqual({ kind: 'NO_CAPABLE_MODEL' });
  });

  it('takes the cheaper provider of the same model, then the better one', () => {
    const dear = newOffer({ providerId: 'north' });
    const cheap = newOffer({ providerId: 'south', pricePerSecondMicros: { '720p': 5n } });
    const accounts = [newAccount(), newAccount({ id: 'south-a', providerId: 'south' })];
    expect(choose([dear, cheap], accounts)).toMatchObject({ account: { id: 'south-a' } });
    const better = newOffer({ providerId: 'south', quality: 9 });
    expect(choose([dear, better], accounts)).toMatchObject({ account: { id: 'south-a' } });
  });

  it('goes round an open circuit', () => {
    const broken = newAccount({ circuitOpenUntil: LATER });
    const route = choose([newOffer()], [broken, newAccount({ id: 'north-b', inUse: 9 })]);
    expect(route).toMatchObject({ kind: 'ROUTE', account: { id: 'north-b' } });
  });

  it('tries again as soon as a circuit may close', () => {
    const route = choose([newOffer()], [newAccount({ circuitOpenUntil: NOW })]);
    expect(route.kind).toBe('ROUTE');
  });

  it('waits for the first circuit to close when all are open', () => {
    const route = choose(
      [newOffer()],
      [
        newAccount({ circuitOpenUntil: LAST }),
        newAccount({ id: 'b', circuitOpenUntil: LATER }),
        newAccount({ id: 'c', circuitOpenUntil: LAST }),
      ],
    );
    expect(route).toEqual({ kind: 'WAIT', reason: 'CIRCUIT_OPEN', until: LATER });
  });

  it('waits while the provider is paused, and for no account of another', () => {
    const paused = { kind: 'WAIT', reason: 'PROVIDER_PAUSED', until: null };
    expect(choose([newOffer()], [newAccount({ status: 'PAUSED' })])).toEqual(paused);
    expect(choose([newOffer()], [newAccount({ providerId: 'south' })])).toEqual(paused);
    expect(choose([newOffer({ status: 'PAUSED' })], [newAccount()])).toEqual(paused);
  });

  it('does not wait for a paused model that could not serve the request anyway', () => {
    const request = newRequest({ resolution: '4k' });
    const route = choose([newOffer({ status: 'PAUSED' })], [newAccount()], request);
    expect(route).toEqual({ kind: 'NO_CAPABLE_MODEL' });
  });

  it('does not wait for a retired model', () => {
    const route = choose([newOffer({ status: 'RETIRED' })], [newAccount()]);
    expect(route).toEqual({ kind: 'NO_CAPABLE_MODEL' });
  });
});
