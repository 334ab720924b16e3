import type { GenerationRequest } from '../generation/task';
import type { Micros } from '../kernel/money';

/** A model as the catalogue offers it, with its provider's present state. */
export interface ModelOffer {
  readonly id: string;
  readonly providerId: string;
  readonly providerModel: string;
  readonly displayName: string;
  readonly description: string;
  readonly status: 'ACTIVE' | 'PAUSED' | 'RETIRED';
  readonly quality: number;
  readonly aspectRatios: readonly string[];
  readonly resolutions: readonly string[];
  readonly durationMsMin: number;
  readonly durationMsMax: number;
  readonly durationMsStep: number;
  readonly supportsImage: boolean;
  readonly supportsAudio: boolean;
  readonly promptCharsMax: number;
  readonly pricePerSecondMicros: Readonly<Record<string, Micros>>;
  readonly costPerSecond: string;
  readonly costCurrency: string;
}

export interface AccountOffer {
  readonly id: string;
  readonly providerId: string;
  readonly status: 'ACTIVE' | 'PAUSED';
  readonly concurrentMax: number;
  readonly circuitOpenUntil: Date | null;
  /** While one submit tries whether the account works again, the others wait until then. */
  readonly circuitProbeUntil: Date | null;
  /** How many jobs it takes until `throttledUntil`, since its provider said it has too many. */
  readonly throttledMax: number | null;
  readonly throttledUntil: Date | null;
}

/** CLOSED: submits flow. OPEN: none. HALF_OPEN: one tries, the others wait for what it comes to. */
export type CircuitState = 'CLOSED' | 'OPEN' | 'HALF_OPEN';

export const circuitStateOf = (
  account: Pick<AccountOffer, 'circuitOpenUntil'>,
  now: Date,
): CircuitState => {
  if (account.circuitOpenUntil === null) return 'CLOSED';
  return account.circuitOpenUntil > now ? 'OPEN' : 'HALF_OPEN';
};

/** How many jobs the account takes at present. */
export const accountLimitAt = (
  account: Pick<AccountOffer, 'concurrentMax' | 'throttledMax' | 'throttledUntil'>,
  now: Date,
): number =>
  account.throttledMax !== null && account.throttledUntil !== null && account.throttledUntil > now
    ? Math.min(account.throttledMax, account.concurrentMax)
    : account.concurrentMax;

/** Until when no submit may go to the account; null when one may. Queries and cancels never ask this. */
const closedUntil = (account: AccountOffer, now: Date): Date | null => {
  switch (circuitStateOf(account, now)) {
    case 'CLOSED':
      return null;
    case 'OPEN':
      return account.circuitOpenUntil;
    case 'HALF_OPEN': {
      const { circuitProbeUntil: probe } = account;
      return probe !== null && probe > now ? probe : null;
    }
  }
};

export type CapabilityRefusal =
  | 'MODEL_UNAVAILABLE'
  | 'ASPECT_RATIO_UNSUPPORTED'
  | 'RESOLUTION_UNSUPPORTED'
  | 'DURATION_UNSUPPORTED'
  | 'IMAGE_UNSUPPORTED'
  | 'AUDIO_UNSUPPORTED'
  | 'PROMPT_TOO_LONG';

/** Why a model cannot serve a request; null when it can. */
export const refusalOf = (
  offer: ModelOffer,
  request: Omit<GenerationRequest, 'seed' | 'providerOptions' | 'model'>,
): CapabilityRefusal | null => {
  if (offer.status !== 'ACTIVE') return 'MODEL_UNAVAILABLE';
  if (!offer.aspectRatios.includes(request.aspectRatio)) return 'ASPECT_RATIO_UNSUPPORTED';
  if (!offer.resolutions.includes(request.resolution)) return 'RESOLUTION_UNSUPPORTED';
  const fits =
    request.durationMs >= offer.durationMsMin &&
    request.durationMs <= offer.durationMsMax &&
    (request.durationMs - offer.durationMsMin) % offer.durationMsStep === 0;
  if (!fits) return 'DURATION_UNSUPPORTED';
  if (request.imageAssetId !== null && !offer.supportsImage) return 'IMAGE_UNSUPPORTED';
  if (request.withAudio && !offer.supportsAudio) return 'AUDIO_UNSUPPORTED';
  if ([...request.prompt].length > offer.promptCharsMax) return 'PROMPT_TOO_LONG';
  return null;
};

export type Route =
  | { readonly kind: 'ROUTE'; readonly offer: ModelOffer; readonly account: AccountOffer }
  | {
      readonly kind: 'WAIT';
      readonly reason: 'CIRCUIT_OPEN' | 'PROVIDER_PAUSED';
      readonly until: Date | null;
    }
  | { readonly kind: 'NO_CAPABLE_MODEL' };

/**
 * Chooses model and account for one submit. A model that the user named is never swapped: only accounts of its
 * provider compete, the one with most room first. An open circuit makes the task wait.
 */
export const chooseRoute = (
  request: GenerationRequest,
  offers: readonly ModelOffer[],
  accounts: readonly (AccountOffer & { readonly inUse: number })[],
  now: Date,
): Route => {
  const capable = offers
    .filter((offer) => offer.id === request.model && refusalOf(offer, request) === null)
    .sort((a, b) => comparePrice(a, b, request.resolution));
  if (capable.length === 0) {
    // Waiting helps only where the paused model could serve the request once it is back.
    const paused = offers.some(
      (offer) =>
        offer.id === request.model &&
        offer.status === 'PAUSED' &&
        refusalOf({ ...offer, status: 'ACTIVE' }, request) === null,
    );
    return paused
      ? { kind: 'WAIT', reason: 'PROVIDER_PAUSED', until: null }
      : { kind: 'NO_CAPABLE_MODEL' };
  }
  let reopensAt: Date | null = null;
  let closed = false;
  for (const offer of capable) {
    const candidates = accounts
      .filter((account) => account.providerId === offer.providerId && account.status === 'ACTIVE')
      .sort((a, b) => accountLimitAt(b, now) - b.inUse - (accountLimitAt(a, now) - a.inUse));
    for (const account of candidates) {
      const until = closedUntil(account, now);
      if (until === null) return { kind: 'ROUTE', offer, account };
      closed = true;
      if (reopensAt === null || until < reopensAt) reopensAt = until;
    }
  }
  return closed
    ? { kind: 'WAIT', reason: 'CIRCUIT_OPEN', until: reopensAt }
    : { kind: 'WAIT', reason: 'PROVIDER_PAUSED', until: null };
};

const comparePrice = (a: ModelOffer, b: ModelOffer, resolution: string): number => {
  const left = a.pricePerSecondMicros[resolution] ?? 0n;
  const right = b.pricePerSecondMicros[resolution] ?? 0n;
  return left < right ? -1 : left > right ? 1 : b.quality - a.quality;
};
