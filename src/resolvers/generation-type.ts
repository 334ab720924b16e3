import { Authorized, Ctx, Field, ID, Int, ObjectType } from 'type-graphql';

import type { TaskStatus } from '../domain/generation/statuses';
import type { Task } from '../domain/generation/task';
import { budgetUse, type BudgetUse } from '../domain/scheduling/budget-use';
import type { RowKey } from '../ports/read-model';
import { callerOf, type ApiContext } from './api-context';
import { AssetType } from './asset-type';
import { AttemptType } from './attempt';
import { connectionType } from './connection';
import {
  cancelStateOf,
  failureOf,
  moneyOf,
  nextStepOf,
  playbackOf,
  waitingOf,
} from './generation-answers';
import {
  GenerationCancelState,
  GenerationFailure,
  GenerationMoney,
  GenerationParameters,
  GenerationWaiting,
  LateResultType,
  Playback,
} from './generation-parts';
import { GenerationStatusEnum } from './generation-words';
import { LedgerEntryType } from './ledger-type';
import { Node } from './node';
import { toPublicId } from './public-id';
import { DateTimeScalar, MoneyScalar } from './scalars';
import { RetryBudgetUse } from './retry-budget-type';
import { StateEventType } from './state-event';

@ObjectType('Generation', {
  implements: Node,
  description: 'One paid request for a video, from its acceptance to its end.',
})
export class GenerationType extends Node {
  constructor(readonly task: Task) {
    super(toPublicId('generation', task.id));
  }

  private get key(): RowKey {
    return { tenantId: this.task.tenantId, id: this.task.id };
  }

  @Field(() => GenerationStatusEnum, { description: 'Where it stands.' })
  get status(): TaskStatus {
    return this.task.status;
  }

  @Field(() => Int, {
    description: 'Rises by one with every transition: the newer of two is the higher.',
  })
  get version(): number {
    return this.task.version;
  }

  @Field(() => Int, { description: 'Percent, for display; 100 is not success.' })
  get progress(): number {
    return this.task.progress;
  }

  @Field(() => String, { description: 'The model that was asked for.' })
  get model(): string {
    return this.task.requestedModel;
  }

  @Field(() => String, { nullable: true, description: 'What the video shall show.' })
  async prompt(@Ctx() { loaders }: ApiContext): Promise<string | null> {
    return (await loaders.requestOfTask.load(this.key))?.prompt ?? null;
  }

  @Field(() => GenerationParameters, {
    nullable: true,
    description: 'What was asked besides the prompt.',
  })
  async parameters(@Ctx() { loaders }: ApiContext): Promise<GenerationParameters | null> {
    const request = await loaders.requestOfTask.load(this.key);
    return request === null ? null : new GenerationParameters(request);
  }

  @Field(() => MoneyScalar, { description: 'The price; never more is charged.' })
  get price(): bigint {
    return this.task.priceMicros;
  }

  @Field(() => MoneyScalar, { description: 'What was reserved when it was accepted.' })
  get reserved(): bigint {
    return this.task.reservedMicros;
  }

  @Field(() => MoneyScalar, {
    nullable: true,
    description: 'What was charged; null until it has ended.',
  })
  get settled(): bigint | null {
    return this.task.settledMicros;
  }

  @Field(() => GenerationMoney, { description: 'What became of the credits.' })
  async money(@Ctx() context: ApiContext): Promise<GenerationMoney> {
    return moneyOf(context, this.task);
  }

  @Field(() => [AttemptType], {
    description: 'Every submission to a provider, the first one first.',
  })
  async attempts(@Ctx() { loaders }: ApiContext): Promise<AttemptType[]> {
    const attempts = await loaders.attemptsOfTask.load(this.key);
    return attempts.map((attempt) => new AttemptType(attempt));
  }

  @Field(() => [StateEventType], {
    description: 'Its history with what was ignored and why, oldest first; the latest 200 entries.',
  })
  async events(@Ctx() { loaders }: ApiContext): Promise<StateEventType[]> {
    const events = await loaders.eventsOfTask.load(this.key);
    return events.map((event) => new StateEventType(event));
  }

  @Authorized('ledger:read', 'operator')
  @Field(() => [LedgerEntryType], { description: 'Its credit movements, oldest first.' })
  async ledgerEntries(@Ctx() { loaders }: ApiContext): Promise<LedgerEntryType[]> {
    const entries = await loaders.ledgerOfTask.load(this.key);
    return entries.map((entry) => new LedgerEntryType(entry));
  }

  @Field(() => [AssetType], { description: 'Reference assets.' })
  async inputs(@Ctx() { loaders }: ApiContext): Promise<AssetType[]> {
    const assets = await loaders.inputsOfTask.load(this.key);
    return assets.map((asset) => new AssetType(asset));
  }

  @Field(() => [AssetType], { description: 'The provider’s file and everything made from it.' })
  async outputs(@Ctx() { loaders }: ApiContext): Promise<AssetType[]> {
    const assets = await loaders.outputsOfTask.load(this.key);
    return assets.map((asset) => new AssetType(asset));
  }

  @Field(() => Playback, {
    nullable: true,
    description: 'Only of a SUCCEEDED generation whose output is READY.',
  })
  async playback(@Ctx() context: ApiContext): Promise<Playback | null> {
    return playbackOf(context, this.task);
  }

  @Field(() => GenerationFailure, {
    nullable: true,
    description: 'Only of a FAILED_FINAL or EXPIRED generation.',
  })
  async failure(@Ctx() context: ApiContext): Promise<GenerationFailure | null> {
    return failureOf(context, this.task);
  }

  @Field(() => [LateResultType], { description: 'Results that came after the end.' })
  async lateResults(@Ctx() context: ApiContext): Promise<LateResultType[]> {
    const results = await context.loaders.lateResultsOfTask.load(this.key);
    const isOperator = callerOf(context).scopes.includes('operator');
    return results.map((result) => new LateResultType(result, isOperator));
  }

  @Field(() => GenerationCancelState, {
    nullable: true,
    description: 'Only where somebody asked to stop it.',
  })
  get cancel(): GenerationCancelState | null {
    return cancelStateOf(this.task);
  }

  @Field(() => GenerationWaiting, { nullable: true, description: 'Only while it waits.' })
  async waiting(@Ctx() context: ApiContext): Promise<GenerationWaiting | null> {
    return waitingOf(context, this.task);
  }

  @Field(() => [RetryBudgetUse], {
    description: 'What it has used of the budget of each step that is tried again by itself.',
  })
  async retryBudgets(@Ctx() { loaders }: ApiContext): Promise<readonly BudgetUse[]> {
    const attempts = await loaders.attemptsOfTask.load(this.key);
    const current = attempts.find(({ attemptNo }) => attemptNo === this.task.currentAttemptNo);
    return budgetUse(this.task, current ?? null);
  }

  @Field(() => String, { description: 'What happens next, for people.' })
  async nextStep(@Ctx() context: ApiContext): Promise<string> {
    return nextStepOf(context, this.task);
  }

  @Field(() => ID, { description: 'The account that it belongs to.' })
  get tenantId(): string {
    return toPublicId('tenant', this.task.tenantId);
  }

  @Field(() => Boolean, { description: 'It goes on only when the operator decides.' })
  get needsOperator(): boolean {
    return this.task.needsOperator;
  }

  @Field(() => String, { description: 'The key it was created with.' })
  get idempotencyKey(): string {
    return this.task.clientIdempotencyKey;
  }

  @Field(() => ID, { nullable: true, description: 'The API key that created it.' })
  get apiKeyId(): string | null {
    return this.task.apiKeyId === null ? null : toPublicId('apiKey', this.task.apiKeyId);
  }

  @Field(() => ID, { nullable: true, description: 'The project it belongs to.' })
  get projectId(): string | null {
    return this.task.projectId === null ? null : toPublicId('project', this.task.projectId);
  }

  @Field(() => ID, { nullable: true, description: 'The quote it was created with.' })
  get quoteId(): string | null {
    return this.task.quoteId === null ? null : toPublicId('quote', this.task.quoteId);
  }

  @Field(() => DateTimeScalar, { description: 'When it was accepted.' })
  get createdAt(): Date {
    return this.task.createdAt;
  }

  @Field(() => DateTimeScalar, { description: 'The latest transition.' })
  get updatedAt(): Date {
    return this.task.updatedAt;
  }

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'When it was first sent to a provider.',
  })
  get startedAt(): Date | null {
    return this.task.startedAt;
  }

  @Field(() => DateTimeScalar, { nullable: true, description: 'When it ended.' })
  get finishedAt(): Date | null {
    return this.task.finishedAt;
  }

  @Field(() => DateTimeScalar, { description: 'Past this the provider is asked to stop.' })
  get deadlineAt(): Date {
    return this.task.deadlineAt;
  }
}

export const GenerationConnection = connectionType('Generation', () => GenerationType);
