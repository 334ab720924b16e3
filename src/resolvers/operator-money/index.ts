import { CreditsAdjustResolver } from './adjust';
import { InvoiceResolver } from './invoice';
import { InvoiceImportResolver } from './invoice-import';
import { CreditsRefundResolver } from './refund';
import { SpendLimitResolver } from './spend-limit';

/** What operators do with money. */
export const OPERATOR_MONEY_RESOLVERS = [
  CreditsRefundResolver,
  CreditsAdjustResolver,
  SpendLimitResolver,
  InvoiceImportResolver,
  InvoiceResolver,
] as const;
