import type { GenerationRequest } from '../../../../src/domain/generation/task';
import type { AccountOffer, ModelOffer } from '../../../../src/domain/scheduling/routing';

export const newOffer = (overrides: Partial<ModelOffer> = {}): ModelOffer => ({
  id: 'cinema-1',
  providerId: 'north',
  providerModel: 'cinema-one',
  displayName: 'Cinema',
  description: '',
  status: 'ACTIVE',
  quality: 3,
  aspectRatios: ['16:9', '9:16'],
  resolutions: ['720p', '1080p'],
  durationMsMin: 4_000,
  durationMsMax: 8_000,
  durationMsStep: 2_000,
  supportsImage: true,
  supportsAudio: false,
  promptCharsMax: 10,
  pricePerSecondMicros: { '720p': 1_000_001n, '1080p': 3_000_000n },
  costPerSecond: '0.01',
  costCurrency: 'USD',
  ...overrides,
});

export const newRequest = (overrides: Partial<GenerationRequest> = {}): GenerationRequest => ({
  model: 'cinema-1',
  prompt: 'a sea',
  negativePrompt: null,
  seed: 1,
  aspectRatio: '16:9',
  resolution: '720p',
  durationMs: 4_000,
  withAudio: false,
  imageAssetId: null,
  providerOptions: {},
  ...overrides,
});

export const newAccount = (
  overrides: Partial<AccountOffer & { inUse: number }> = {},
): AccountOffer & { readonly inUse: number } => ({
  id: 'north-a',
  providerId: 'north',
  status: 'ACTIVE',
  concurrentMax: 10,
  circuitOpenUntil: null,
  circuitProbeUntil: null,
  throttledMax: null,
  throttledUntil: null,
  inUse: 0,
  ...overrides,
});
