import type { Asset } from '../domain/output/asset';
import type { ApiDeps } from './api-deps';

/** A short-lived URL of an asset that the caller may see; of a folder, of the file to open first. */
export const signUrl = async (
  { context, objects }: ApiDeps,
  asset: Asset,
): Promise<{ readonly url: string; readonly expiresAt: Date }> => {
  const now = context.clock.now();
  const expiresAt = new Date(now.getTime() + context.settings.downloadTicketMs);
  const url =
    asset.entryName === null
      ? await objects.presignGet(asset.objectKey, { now, expiresAt })
      : `${await objects.presignGetPrefix(asset.objectKey, { now, expiresAt })}${asset.entryName}`;
  return { url, expiresAt };
};
