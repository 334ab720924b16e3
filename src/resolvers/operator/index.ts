import { AssetReleaseResolver } from './asset-release';
import { CreditsGrantResolver } from './credits-grant';
import { FindingResolver } from './finding';
import { GenerationOrdersResolver } from './generation-orders';
import { OperatorListsResolver } from './lists';
import { ReplayResolver } from './replay';
import { ReviewResolver } from './review';
import { SwitchResolver } from './switches';
import { UnknownSubmitResolver } from './unknown-submit';

/** Everything behind the `operator` scope: what a person may decide, and what to decide it by. */
export const OPERATOR_RESOLVERS = [
  ReviewResolver,
  CreditsGrantResolver,
  UnknownSubmitResolver,
  GenerationOrdersResolver,
  ReplayResolver,
  AssetReleaseResolver,
  SwitchResolver,
  FindingResolver,
  OperatorListsResolver,
] as const;
