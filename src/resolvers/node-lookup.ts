import { Arg, Authorized, Ctx, ID, Query, Resolver } from 'type-graphql';

import type { ApiScope } from '../ports/api-keys';
import { callerOf, type ApiContext } from './api-context';
import { ApiKeyType } from './api-key';
import { AssetType } from './asset-type';
import { AttemptType } from './attempt';
import { ApiError } from './errors';
import { GenerationType } from './generation-type';
import { LedgerEntryType } from './ledger-type';
import { Node } from './node';
import { parsePublicId, toPublicId, type IdKind } from './public-id';
import { QuoteType } from './quote';

const IDS_MAX = 100;

interface Lookup {
  /** Any one of them is enough; without one the kind reads as absent. */
  readonly scopes: readonly ApiScope[];
  readonly read: (context: ApiContext, tenantId: string, ids: readonly string[]) => Promise<Node[]>;
}

const LOOKUPS: Partial<Record<IdKind, Lookup>> = {
  generation: {
    scopes: ['generations:read'],
    read: async ({ deps }, tenantId, ids) =>
      (await deps.reads.readTasks(tenantId, ids)).map((task) => new GenerationType(task)),
  },
  asset: {
    scopes: ['generations:read', 'assets:write'],
    read: async ({ deps }, tenantId, ids) =>
      (await deps.reads.readAssets(tenantId, ids)).map((asset) => new AssetType(asset)),
  },
  attempt: {
    scopes: ['generations:read'],
    read: async ({ deps }, tenantId, ids) =>
      (await deps.reads.readAttempts(tenantId, ids)).map((attempt) => new AttemptType(attempt)),
  },
  ledgerEntry: {
    scopes: ['ledger:read'],
    read: async ({ deps }, tenantId, ids) =>
      (await deps.reads.readLedgerEntries(tenantId, ids)).map(
        (entry) => new LedgerEntryType(entry),
      ),
  },
  quote: {
    scopes: ['generations:read', 'generations:write'],
    read: async ({ deps }, tenantId, ids) =>
      (await deps.reads.readQuotes(tenantId, ids)).map((quote) => new QuoteType(quote)),
  },
  apiKey: {
    scopes: ['keys:admin'],
    read: async ({ deps }, tenantId, ids) =>
      (await deps.apiKeys.read(tenantId, ids)).map((key) => new ApiKeyType(key)),
  },
};

@Resolver()
export class NodeResolver {
  @Authorized()
  @Query(() => Node, {
    nullable: true,
    description: 'Anything by its id; null when there is none, or it is another account’s.',
  })
  async node(
    @Arg('id', () => ID, { description: 'Of any kind.' }) id: string,
    @Ctx() context: ApiContext,
  ): Promise<Node | null> {
    return (await readNodes(context, [id]))[0] ?? null;
  }

  @Authorized()
  @Query(() => [Node], {
    nullable: 'items',
    description: `Several things by their ids, in the same order, with nulls; at most ${IDS_MAX}.`,
  })
  async nodes(
    @Arg('ids', () => [ID], { description: 'Of any kinds.' }) ids: string[],
    @Ctx() context: ApiContext,
  ): Promise<(Node | null)[]> {
    if (ids.length > IDS_MAX) {
      throw new ApiError('PAGE_SIZE_EXCEEDED', `At most ${IDS_MAX} ids at once.`, {
        limit: IDS_MAX,
        asked: ids.length,
      });
    }
    return readNodes(context, ids);
  }
}

/** One read for each kind, whatever the number of ids. */
const readNodes = async (context: ApiContext, ids: readonly string[]): Promise<(Node | null)[]> => {
  const caller = callerOf(context);
  const byKind = new Map<IdKind, string[]>();
  const parsed = ids.map(parsePublicId);
  for (const each of parsed) {
    if (each !== null) byKind.set(each.kind, [...(byKind.get(each.kind) ?? []), each.uuid]);
  }
  const found = await Promise.all(
    [...byKind].map(async ([kind, uuids]) => {
      const lookup = LOOKUPS[kind];
      const isAllowed = lookup?.scopes.some((scope) => caller.scopes.includes(scope)) === true;
      return isAllowed ? lookup.read(context, caller.tenantId, [...new Set(uuids)]) : [];
    }),
  );
  const byId = new Map(found.flat().map((node) => [node.id, node]));
  return parsed.map((each) =>
    each === null ? null : (byId.get(toPublicId(each.kind, each.uuid)) ?? null),
  );
};
