import {
  Arg,
  Authorized,
  Ctx,
  Field,
  ID,
  Int,
  ObjectType,
  Resolver,
  Root,
  Subscription,
} from 'type-graphql';

import type { TaskStatus } from '../domain/generation/statuses';
import type { Task } from '../domain/generation/task';
import type { Asset, AssetStatus } from '../domain/output/asset';
import type { StateEvent } from '../ports/read-model';
import { callerOf, freshLoaders, type ApiContext } from './api-context';
import { AssetStatusEnum, AssetType } from './asset-type';
import { ApiError } from './errors';
import { GenerationType } from './generation-type';
import { GenerationStatusEnum } from './generation-words';
import { toUuid } from './public-id';
import { StateEventType } from './state-event';

const CHANGES_MAX = 200;

@ObjectType({
  description:
    'How a generation stands after a change. The first event of a subscription is the present state.',
})
export class GenerationUpdate {
  private loaded: Promise<readonly StateEvent[]> | null = null;

  /** @param seenVersion what the subscriber knew before */
  constructor(
    readonly task: Task,
    private readonly seenVersion: number,
  ) {}

  @Field(() => Int, {
    description: 'Rises with every transition; give it as `afterVersion` when you come back.',
  })
  get version(): number {
    return this.task.version;
  }

  @Field(() => GenerationStatusEnum, { description: 'Where it stands.' })
  get status(): TaskStatus {
    return this.task.status;
  }

  @Field(() => Int, { description: 'Percent, for display; may change without a new version.' })
  get progress(): number {
    return this.task.progress;
  }

  @Field(() => [StateEventType], {
    description:
      'The transitions since the event before, or since `afterVersion`, oldest first; a slow reader misses none.',
  })
  async changes(@Ctx() context: ApiContext): Promise<StateEventType[]> {
    return (await this.load(context)).map((event) => new StateEventType(event));
  }

  @Field(() => Boolean, {
    description:
      'Some transitions since then are not in `changes`: they were too many, or are kept no more.',
  })
  async gap(@Ctx() context: ApiContext): Promise<boolean> {
    const missed = this.task.version - this.seenVersion;
    return missed > 0 && (await this.load(context)).length < missed;
  }

  @Field(() => GenerationType, { description: 'The generation.' })
  get generation(): GenerationType {
    return new GenerationType(this.task);
  }

  private load({ deps }: ApiContext): Promise<readonly StateEvent[]> {
    const { tenantId, id, version } = this.task;
    this.loaded ??= deps.reads
      .listTransitions(tenantId, id, this.seenVersion, CHANGES_MAX)
      .then((events) => events.filter(({ taskVersion }) => taskVersion <= version));
    return this.loaded;
  }
}

@ObjectType({
  description: 'How an asset stands after a change. The first event is the present state.',
})
export class AssetUpdate {
  constructor(readonly row: Asset) {}

  @Field(() => Int, { description: 'Rises with every change.' })
  get version(): number {
    return this.row.version;
  }

  @Field(() => AssetStatusEnum, { description: 'Where it stands.' })
  get status(): AssetStatus {
    return this.row.status;
  }

  @Field(() => AssetType, { description: 'The asset.' })
  get asset(): AssetType {
    return new AssetType(this.row);
  }
}

interface OpenData {
  readonly context?: ApiContext;
  readonly args: Record<string, unknown>;
}

/** What the subscriber of this operation has seen of each generation. */
const seenVersions = new WeakMap<ApiContext, Map<string, number>>();

const contextOf = ({ context }: OpenData): ApiContext => {
  if (context === undefined) throw new Error('A subscription has no context');
  return context;
};

const openGeneration = async (data: OpenData): Promise<AsyncIterableIterator<Task>> => {
  const context = contextOf(data);
  const id = toUuid('generation', String(data.args['id']));
  const [task] = await context.deps.reads.readTasks(callerOf(context).tenantId, [id]);
  if (task === undefined) throw new ApiError('NOT_FOUND', 'There is no such generation.');
  const after = data.args['afterVersion'];
  seenVersions.set(context, new Map([[id, typeof after === 'number' ? after : task.version]]));
  return context.feeds.followGeneration(task);
};

const openAsset = async (data: OpenData): Promise<AsyncIterableIterator<Asset>> => {
  const context = contextOf(data);
  const id = toUuid('asset', String(data.args['id']));
  const [asset] = await context.deps.reads.readAssets(callerOf(context).tenantId, [id]);
  if (asset === undefined) throw new ApiError('NOT_FOUND', 'There is no such asset.');
  return context.feeds.followAsset(asset);
};

const openGenerations = (data: OpenData): AsyncIterableIterator<Task> => {
  const context = contextOf(data);
  seenVersions.set(context, new Map());
  return context.feeds.followGenerationsOf(callerOf(context).tenantId);
};

const toUpdate = (task: Task, context: ApiContext): GenerationUpdate => {
  context.loaders = freshLoaders(context.deps);
  const seen = seenVersions.get(context);
  const update = new GenerationUpdate(task, seen?.get(task.id) ?? task.version);
  seen?.set(task.id, task.version);
  return update;
};

@Resolver()
export class SubscriptionResolver {
  @Authorized('generations:read')
  @Subscription(() => GenerationUpdate, {
    subscribe: openGeneration,
    description:
      'Follows a generation: begins with its present state and completes after a final one. A reader who is slow gets the ' +
      'latest state. An unknown id is an error at once.',
  })
  generationUpdated(
    @Arg('id', () => ID, { description: 'As `gen_…`.' }) _id: string,
    @Arg('afterVersion', () => Int, {
      nullable: true,
      description: 'The version that you have: `changes` of the first event tells what came since.',
    })
    _afterVersion: number | null,
    @Root() task: Task,
    @Ctx() context: ApiContext,
  ): GenerationUpdate {
    return toUpdate(task, context);
  }

  @Authorized('generations:read')
  @Subscription(() => GenerationUpdate, {
    subscribe: openGenerations,
    description:
      'Follows every generation of the account: begins with those under way; does not end.',
  })
  generationsUpdated(@Root() task: Task, @Ctx() context: ApiContext): GenerationUpdate {
    return toUpdate(task, context);
  }

  @Authorized('generations:read', 'assets:write')
  @Subscription(() => AssetUpdate, {
    subscribe: openAsset,
    description:
      'Follows an asset: begins with its present state and completes when it is READY, REJECTED, FAILED or DELETED.',
  })
  assetUpdated(
    @Arg('id', () => ID, { description: 'As `ast_…`.' }) _id: string,
    @Root() asset: Asset,
    @Ctx() context: ApiContext,
  ): AssetUpdate {
    context.loaders = freshLoaders(context.deps);
    return new AssetUpdate(asset);
  }
}
