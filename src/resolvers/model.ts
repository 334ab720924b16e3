import { Arg, Authorized, Ctx, Field, Int, ObjectType, Query, Resolver } from 'type-graphql';

import type { ModelOffer } from '../domain/scheduling/routing';
import type { ApiContext } from './api-context';
import { enumType } from './enum-type';
import { MoneyScalar } from './scalars';

const ModelStatusEnum = enumType<ModelOffer['status']>('ModelStatus', 'Whether a model works.', {
  ACTIVE: 'Takes new generations.',
  PAUSED: 'Takes none at present.',
  RETIRED: 'Takes none any more.',
});

@ObjectType({ description: 'What a second of video costs.' })
export class ModelPrice {
  @Field(() => String, { description: 'As 720p.' })
  resolution!: string;

  @Field(() => MoneyScalar, { description: 'Credits for one second of video.' })
  perSecond!: bigint;
}

@ObjectType('Model', { description: 'A model and what it can do.' })
export class ModelType {
  constructor(readonly offer: ModelOffer) {}

  @Field(() => String, { description: 'What `generationCreate` takes as `model`.' })
  get id(): string {
    return this.offer.id;
  }

  @Field(() => String, { description: 'For people.' })
  get displayName(): string {
    return this.offer.displayName;
  }

  @Field(() => String, { description: 'For people.' })
  get description(): string {
    return this.offer.description;
  }

  @Field(() => String, { description: 'Who runs it.' })
  get provider(): string {
    return this.offer.providerId;
  }

  @Field(() => ModelStatusEnum, { description: 'Whether it works.' })
  get status(): ModelOffer['status'] {
    return this.offer.status;
  }

  @Field(() => [String], { description: 'As 16:9; the first one is the default.' })
  get aspectRatios(): readonly string[] {
    return this.offer.aspectRatios;
  }

  @Field(() => [String], { description: 'As 720p; the first one is the default.' })
  get resolutions(): readonly string[] {
    return this.offer.resolutions;
  }

  @Field(() => Int, { description: 'The shortest video, and the default.' })
  get durationMsMin(): number {
    return this.offer.durationMsMin;
  }

  @Field(() => Int, { description: 'The longest video.' })
  get durationMsMax(): number {
    return this.offer.durationMsMax;
  }

  @Field(() => Int, { description: 'Durations go in steps of this, from the shortest.' })
  get durationMsStep(): number {
    return this.offer.durationMsStep;
  }

  @Field(() => Boolean, { description: 'Takes a reference image.' })
  get supportsImage(): boolean {
    return this.offer.supportsImage;
  }

  @Field(() => Boolean, { description: 'Makes sound.' })
  get supportsAudio(): boolean {
    return this.offer.supportsAudio;
  }

  @Field(() => Int, { description: 'The longest prompt, in characters.' })
  get promptCharsMax(): number {
    return this.offer.promptCharsMax;
  }

  @Field(() => [ModelPrice], { description: 'By resolution.' })
  get prices(): ModelPrice[] {
    return Object.entries(this.offer.pricePerSecondMicros).map(([resolution, perSecond]) => ({
      resolution,
      perSecond,
    }));
  }
}

@Resolver()
export class ModelResolver {
  @Authorized()
  @Query(() => [ModelType], { description: 'Every model of the catalogue.' })
  async models(@Ctx() { deps }: ApiContext): Promise<ModelType[]> {
    const offers = await deps.context.uow.stores.catalog.listModels();
    return offers.map((offer) => new ModelType(offer));
  }

  @Authorized()
  @Query(() => ModelType, { nullable: true, description: 'A model; null when there is none.' })
  async model(
    @Arg('id', () => String, { description: 'As `models` lists it.' }) id: string,
    @Ctx() { deps }: ApiContext,
  ): Promise<ModelType | null> {
    const offer = await deps.context.uow.stores.catalog.readModel(id);
    return offer === null ? null : new ModelType(offer);
  }
}
