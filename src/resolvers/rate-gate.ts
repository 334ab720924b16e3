import {
  getOperationAST,
  Kind,
  type DocumentNode,
  type FragmentDefinitionNode,
  type SelectionSetNode,
} from 'graphql';

import type { Principal } from '../ports/api-keys';
import type { RateLimits, RateRule, RateVerdict } from '../ports/rate-limits';
import { ApiError } from './errors';

/** How many requests and mutations are taken; null: as many as come. */
export interface RateRules {
  /** Operations of one API key. */
  readonly requests: RateRule | null;
  /** Mutation fields of one account: each alias counts, as each one runs. */
  readonly mutations: RateRule | null;
  /** Requests of one address that show no valid key. */
  readonly strangers: RateRule | null;
}

export interface RateGateDeps {
  readonly rateLimits: RateLimits;
  readonly rateRules: RateRules;
}

/** Counts a request without a valid key. Throws RATE_LIMITED. */
export const admitStranger = async (
  { rateLimits, rateRules }: RateGateDeps,
  address: string,
): Promise<readonly RateVerdict[]> => {
  if (rateRules.strangers === null) return [];
  return check([await rateLimits.take(rateRules.strangers, address, 1)]);
};

/** Counts an operation that is about to run. Throws RATE_LIMITED. */
export const admitOperation = async (
  { rateLimits, rateRules }: RateGateDeps,
  { keyId, tenantId }: Principal,
  document: DocumentNode,
  operationName: string | null | undefined,
): Promise<readonly RateVerdict[]> => {
  const mutations = countMutations(document, operationName);
  return check(
    await Promise.all([
      ...(rateRules.requests === null ? [] : [rateLimits.take(rateRules.requests, keyId, 1)]),
      ...(rateRules.mutations === null || mutations === 0
        ? []
        : [rateLimits.take(rateRules.mutations, tenantId, mutations)]),
    ]),
  );
};

const countMutations = (
  document: DocumentNode,
  operationName: string | null | undefined,
): number => {
  const operation = getOperationAST(document, operationName);
  return operation?.operation === 'mutation' ? countFields(operation.selectionSet, document) : 0;
};

/** Also those that come by a fragment; validation has refused fragments that contain themselves. */
const countFields = ({ selections }: SelectionSetNode, document: DocumentNode): number =>
  selections.reduce((sum, selection) => {
    switch (selection.kind) {
      case Kind.FIELD:
        return sum + 1;
      case Kind.INLINE_FRAGMENT:
        return sum + countFields(selection.selectionSet, document);
      case Kind.FRAGMENT_SPREAD: {
        const fragment = document.definitions.find(
          (each): each is FragmentDefinitionNode =>
            each.kind === Kind.FRAGMENT_DEFINITION && each.name.value === selection.name.value,
        );
        return sum + (fragment === undefined ? 0 : countFields(fragment.selectionSet, document));
      }
    }
  }, 0);

const check = (verdicts: readonly RateVerdict[]): readonly RateVerdict[] => {
  const refused = verdicts.filter(({ allowed }) => !allowed);
  if (refused.length === 0) return verdicts;
  const waitMs = Math.max(...refused.map(({ resetMs }) => resetMs));
  const [{ rule }] = refused as [RateVerdict];
  throw new ApiError(
    'RATE_LIMITED',
    `At most ${rule.pointsMax} ${rule.name} in ${rule.windowMs / 1_000} s are taken; wait ${Math.ceil(waitMs / 1_000)} s.`,
    { limit: rule.name, max: rule.pointsMax, retryAfterMs: waitMs },
    Math.ceil(waitMs / 1_000),
    rateHeaders(verdicts),
  );
};

/** As draft-ietf-httpapi-ratelimit-headers has them: q is the quota, w the window, r what remains, t the seconds until it is back. */
export const rateHeaders = (verdicts: readonly RateVerdict[]): ReadonlyMap<string, string> =>
  verdicts.length === 0
    ? new Map()
    : new Map([
        [
          'ratelimit-policy',
          verdicts
            .map(({ rule }) => `"${rule.name}";q=${rule.pointsMax};w=${rule.windowMs / 1_000}`)
            .join(', '),
        ],
        [
          'ratelimit',
          verdicts
            .map(
              ({ rule, remaining, resetMs }) =>
                `"${rule.name}";r=${remaining};t=${Math.ceil(resetMs / 1_000)}`,
            )
            .join(', '),
        ],
      ]);
