import { CreditsAdjustResolver } from './adjust';
import { CreditsRefundResolver } from './refund';
import { SpendLimitResolver } from './spend-limit';

/** What operators do with money. */
export const OPERATOR_MONEY_RESOLVERS = [
  CreditsRefundResolver,
  CreditsAdjustResolver,
  SpendLimitResolver,
] as const;
