import { Arg, Authorized, Ctx, Field, ID, InputType, Mutation, Resolver } from 'type-graphql';

import { releaseQuarantine, type ReleaseRefusal } from '../../flow/operate/release-quarantine';
import type { ApiContext } from '../api-context';
import { AssetType } from '../asset-type';
import { toUuid } from '../public-id';
import { OrderInput, orderOf } from './order';
import { orderPayload, type PayloadOf } from './payload';

const CODES: Readonly<Record<ReleaseRefusal, string>> = {
  NOT_IN_QUARANTINE: 'It is not in quarantine.',
  STILL_VALIDATING: 'Its validation may be under way.',
  UNREADABLE: 'No tool could read it.',
  BYTES_GONE: 'Its bytes are not kept any more.',
  CHECKSUM_MISMATCH: 'The kept bytes are not the declared ones.',
};
const payload = orderPayload('AssetRelease', 'asset', () => AssetType, CODES);

@InputType({ description: 'Which upload shall leave quarantine.' })
export class AssetReleaseInput extends OrderInput {
  @Field(() => ID, { description: 'Of any account.' })
  assetId!: string;
}

@Resolver()
export class AssetReleaseResolver {
  @Authorized('operator')
  @Mutation(() => payload.type, {
    description: 'Operator: makes an upload usable that was rejected or held up by mistake.',
  })
  async assetRelease(
    @Arg('input', () => AssetReleaseInput, { description: 'What is asked.' })
    input: AssetReleaseInput,
    @Ctx() context: ApiContext,
  ): Promise<PayloadOf<typeof payload>> {
    const { deps } = context;
    const assetId = toUuid('asset', input.assetId);
    const order = orderOf(context, input);
    const acted = await releaseQuarantine(deps.context, deps.objects, assetId, order);
    return payload.from(acted, (asset) => new AssetType(asset));
  }
}
