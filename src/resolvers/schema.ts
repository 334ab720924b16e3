import 'reflect-metadata';

import type { GraphQLSchema } from 'graphql';
import { buildSchema, type PubSub } from 'type-graphql';

import { checkAuthorization } from './api-context';
import { ApiKeyResolver } from './api-key';
import { AssetResolver } from './asset';
import { AssetUploadResolver } from './asset-upload';
import { AssetUploadPartsResolver } from './asset-upload-parts';
import { AttemptType } from './attempt';
import { BalanceResolver } from './balance';
import { ExplanationResolver } from './explanation';
import { GenerationResolver } from './generation';
import { GenerationCancelResolver } from './generation-cancel';
import { GenerationCreateResolver } from './generation-create';
import { LedgerResolver } from './ledger';
import { ModelResolver } from './model';
import { NodeResolver } from './node-lookup';
import { OPERATOR_RESOLVERS } from './operator';
import { OPERATOR_MONEY_RESOLVERS } from './operator-money';
import { ProviderAccountResolver } from './provider-account';
import { QuoteResolver } from './quote';
import { SubscriptionResolver } from './subscription';
import { ViewerResolver } from './viewer';

/** type-graphql asks for one even where every subscription brings an iterator of its own. */
const noPubSub: PubSub = {
  publish: () => undefined,
  subscribe: () => {
    throw new Error('Subscriptions follow rows, not topics of type-graphql');
  },
};

export const buildApiSchema = (): Promise<GraphQLSchema> =>
  buildSchema({
    resolvers: [
      ViewerResolver,
      NodeResolver,
      ModelResolver,
      AssetResolver,
      AssetUploadResolver,
      AssetUploadPartsResolver,
      QuoteResolver,
      ProviderAccountResolver,
      GenerationResolver,
      ExplanationResolver,
      GenerationCreateResolver,
      GenerationCancelResolver,
      LedgerResolver,
      BalanceResolver,
      ApiKeyResolver,
      ...OPERATOR_RESOLVERS,
      ...OPERATOR_MONEY_RESOLVERS,
      SubscriptionResolver,
    ],
    orphanedTypes: [AttemptType],
    // Off by default, and then the limits of the input types would mean nothing.
    validate: { forbidUnknownValues: false },
    authChecker: checkAuthorization,
    pubSub: noPubSub,
  });
