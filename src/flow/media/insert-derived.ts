import { crashpoint } from '../../ports/crash-points';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';
import { together } from '../together';
import type { DerivedSet } from './derive-media';

/** Writes the rows of what was made; answers the proxy's id, new or from an earlier run. */
export const insertDerived = async (
  context: FlowContext,
  tx: Stores,
  derived: DerivedSet,
  inReview: boolean,
): Promise<string | null> => {
  const now = context.clock.now();
  let proxyId = derived.existing.find((asset) => asset.kind === 'PROXY')?.id ?? null;
  for (const { profile, asset, facts } of derived.made) {
    const [inserted, created] = await together(
      tx.assets.insert(asset, now),
      tx.assets.lock(asset.id),
    );
    const row =
      inserted === 'CREATED' ? created : await tx.assets.findByBusinessKey(asset.businessKey);
    if (row === null) throw new Error(`Derivative ${asset.businessKey} cannot be read`);
    crashpoint('finish.after_row_before_next');
    await tx.assets.patch(
      row,
      // Nothing of an output is playable before a person has approved it.
      inReview ? 'IN_REVIEW' : 'READY',
      {
        width: facts.width,
        height: facts.height,
        durationMs: facts.durationMs,
        frameRateNum: facts.frameRate?.numerator ?? null,
        frameRateDen: facts.frameRate?.denominator ?? null,
      },
      now,
    );
    if (profile === 'PROXY') proxyId = row.id;
  }
  return proxyId;
};
