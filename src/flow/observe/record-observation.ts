import { createHash } from 'node:crypto';

import { canonicalJson } from '../../domain/generation/normalize';
import type { JobObservation } from '../../domain/provider/vocabulary';
import { crashpoint } from '../../ports/crash-points';
import type { ProviderEvent } from '../../ports/stores/provider-event-store';
import type { FlowContext } from '../flow-context';
import { requestObservation } from './request-observation';

export interface Sighting {
  readonly providerId: string;
  readonly accountId: string;
  readonly source: ProviderEvent['source'];
  /** The provider's own event id; null → derived from what the event says. */
  readonly sourceEventId: string | null;
  /** The attempt's key, from the callback's path or the attempt that was polled. */
  readonly requestKey: string | null;
  readonly observation: JobObservation;
  /** The answer to a question that was asked once more: equal words are no repeat of the first. */
  readonly isSecondAnswer?: boolean;
}

/**
 * Stores what a provider said, before anything is made of it, with the message for the reducer in the same
 * transaction. A repeat is counted and asks nobody. Callbacks, polls and lists all come through here.
 */
export const recordObservation = async (
  context: FlowContext,
  sighting: Sighting,
): Promise<'CREATED' | 'DUPLICATE'> => {
  const now = context.clock.now();
  const id = context.ids.next(now);
  return context.uow.transact(
    async (tx) => {
      const inserted = await tx.providerEvents.insert(
        {
          id,
          providerId: sighting.providerId,
          accountId: sighting.accountId,
          source: sighting.source,
          sourceEventId: sighting.sourceEventId ?? secondOf(sighting, digestOf(sighting)),
          jobId: sighting.observation.jobId,
          requestKey: sighting.observation.echoedRequestKey ?? sighting.requestKey,
          observation: sighting.observation,
          rawDigest: digestOf(sighting),
          receivedAt: now,
        },
        new Date(now.getTime() + context.settings.orphanEventTtlMs),
      );
      crashpoint('observe.after_event_before_commit');
      if (inserted === 'CREATED') await requestObservation(context, tx, id, null);
      return inserted;
    },
    { line: 'observe', subject: `${sighting.providerId} ${sighting.observation.jobId}` },
  );
};

const secondOf = (sighting: Sighting, digest: string): string =>
  sighting.isSecondAnswer === true ? `${digest}:again` : digest;

/** Over everything the event says, never over job id and status alone; signatures in URLs change and do not count. */
const digestOf = (sighting: Sighting): string => {
  const { observation } = sighting;
  const said = {
    providerId: sighting.providerId,
    ...observation,
    providerUpdatedAt: observation.providerUpdatedAt?.toISOString() ?? null,
    outputs: observation.outputs.map((output) => ({
      index: output.index,
      url: output.url.split('?')[0],
    })),
  };
  return createHash('sha256').update(canonicalJson(said)).digest('hex');
};
