import type { ReadModel } from '../../../ports/read-model';
import type { PrismaClient } from '../generated/client';
import { createAssetReads } from './asset-reads';
import { createGenerationReads } from './generation-reads';
import { createMoneyReads } from './money-reads';
import { translateFaults } from './prisma-errors';

export { createInvoiceReads } from './invoice-reads';

/** The reads of the API over Prisma. */
export const createReadModel = (prisma: PrismaClient): ReadModel =>
  translateFaults({
    ...createGenerationReads(prisma),
    ...createAssetReads(prisma),
    ...createMoneyReads(prisma),
  });
