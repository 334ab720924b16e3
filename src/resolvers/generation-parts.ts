import { Field, ID, Int, ObjectType } from 'type-graphql';

import type { MoneyKnown, MoneyState } from '../domain/billing/money-known';
import type { FailureCode, NextAction } from '../domain/generation/failures';
import type { CancelOutcomeWord, CancelReason } from '../domain/generation/statuses';
import type { GenerationRequest } from '../domain/generation/task';
import type { LateResult } from '../ports/read-model';
import {
  CancelOutcomeEnum,
  CancelReasonEnum,
  MoneyStateEnum,
  NextActionEnum,
} from './generation-words';
import { ProviderCost } from './provider-cost';
import { toPublicId } from './public-id';
import { DateTimeScalar, JsonObjectScalar, MoneyScalar, UrlScalar } from './scalars';

@ObjectType({ description: 'What was asked, with every default resolved.' })
export class GenerationParameters {
  constructor(readonly request: GenerationRequest) {}

  @Field(() => String, { nullable: true, description: 'What the video shall not show.' })
  get negativePrompt(): string | null {
    return this.request.negativePrompt;
  }

  @Field(() => Int, {
    description: 'Equal seeds and parameters give like results where the model can.',
  })
  get seed(): number {
    return this.request.seed;
  }

  @Field(() => String, { description: 'As 16:9.' })
  get aspectRatio(): string {
    return this.request.aspectRatio;
  }

  @Field(() => String, { description: 'As 720p.' })
  get resolution(): string {
    return this.request.resolution;
  }

  @Field(() => Int, { description: 'Length of the video in milliseconds.' })
  get durationMs(): number {
    return this.request.durationMs;
  }

  @Field(() => Boolean, { description: 'Whether it has sound.' })
  get withAudio(): boolean {
    return this.request.withAudio;
  }

  @Field(() => ID, { nullable: true, description: 'The reference image.' })
  get imageAssetId(): string | null {
    const { imageAssetId } = this.request;
    return imageAssetId === null ? null : toPublicId('asset', imageAssetId);
  }

  @Field(() => JsonObjectScalar, { description: 'Options of the provider, passed on as they are.' })
  get providerOptions(): Readonly<Record<string, unknown>> {
    return this.request.providerOptions;
  }
}

@ObjectType({
  description: 'Where to play the result. Short-lived and secret: ask again after `expiresAt`.',
})
export class Playback {
  @Field(() => UrlScalar, { description: 'An MP4; serves Range.' })
  url!: string;

  @Field(() => UrlScalar, {
    nullable: true,
    description: 'The HLS playlist; null until it is made, which may be after SUCCEEDED.',
  })
  hlsUrl!: string | null;

  @Field(() => UrlScalar, { nullable: true, description: 'A still picture.' })
  thumbnailUrl!: string | null;

  @Field(() => DateTimeScalar, { description: 'The URLs serve until then.' })
  expiresAt!: Date;
}

@ObjectType({
  description: 'What became of the credits of a generation: the sum of its ledger entries.',
})
export class GenerationMoney implements MoneyKnown {
  @Field(() => MoneyStateEnum, { description: 'As one word.' })
  state!: MoneyState;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description:
      'Only of UNKNOWN: until then the provider’s charge is waited for; null: until its job ends.',
  })
  unknownUntil!: Date | null;

  @Field(() => MoneyScalar, { description: 'Still reserved.' })
  held!: bigint;

  @Field(() => MoneyScalar, { description: 'Charged.' })
  charged!: bigint;

  @Field(() => MoneyScalar, { description: 'Reserved once and given back.' })
  returned!: bigint;
}

@ObjectType({ description: 'Why a generation did not succeed, and what to do.' })
export class GenerationFailure {
  @Field(() => String, { description: 'Stable, as PROVIDER_BUSY.' })
  code!: FailureCode;

  @Field(() => String, { description: 'For people.' })
  message!: string;

  @Field(() => GenerationMoney, { description: 'What it cost.' })
  money!: GenerationMoney;

  @Field(() => [NextActionEnum], {
    description:
      'What helps, the best first. No other try while it is not known what became of the last.',
  })
  nextActions!: readonly NextAction[];
}

@ObjectType({
  description:
    'A result that came after the end. It is kept, and changes nothing of the generation.',
})
export class LateResultType {
  constructor(
    readonly result: LateResult,
    readonly isOperator: boolean,
  ) {}

  @Field(() => ID, { description: 'The attempt that made it.' })
  get attemptId(): string {
    return toPublicId('attempt', this.result.attemptId);
  }

  @Field(() => DateTimeScalar, { description: 'When it was first seen.' })
  get seenAt(): Date {
    return this.result.seenAt;
  }

  @Field(() => ProviderCost, {
    nullable: true,
    description: 'What the provider charges the platform for it; null until that is known.',
  })
  get cost(): ProviderCost | null {
    const { costAmount: amount, costCurrency: currency } = this.result;
    return amount === null || currency === null ? null : { amount, currency };
  }

  @Field(() => String, {
    nullable: true,
    description: 'Operators: the SHA-256 of the output’s address without its signature.',
  })
  get outputUrlSha256(): string | null {
    return this.isOperator ? this.result.outputUrlSha256 : null;
  }
}

@ObjectType({ description: 'A wish to stop a generation, and what became of it.' })
export class GenerationCancelState {
  @Field(() => DateTimeScalar, { description: 'When it was asked.' })
  requestedAt!: Date;

  @Field(() => CancelReasonEnum, { nullable: true, description: 'Who asked, and why.' })
  reason!: CancelReason | null;

  @Field(() => CancelOutcomeEnum, { nullable: true, description: 'Null until it is decided.' })
  outcome!: CancelOutcomeWord | null;
}

@ObjectType({ description: 'What a generation waits for.' })
export class GenerationWaiting {
  @Field(() => String, {
    description:
      'QUEUED, REVIEW, SLOTS_FULL, SLOTS_UNAVAILABLE, CIRCUIT_OPEN, PROVIDER_PAUSED, TENANT_PAUSED or RETRY_WAIT; more may be added.',
  })
  reason!: string;

  @Field(() => DateTimeScalar, { description: 'Since when.' })
  since!: Date;

  @Field(() => Int, {
    nullable: true,
    description:
      'Place in the order in which the scheduler serves all tenants, 1 = next; null while it is not due. `generationExplanation` says what holds it up.',
  })
  position!: number | null;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'Not before this, where a pause was set.',
  })
  until!: Date | null;
}
