import { ListObjectsV2Command } from '@aws-sdk/client-s3';

import type { ListedObject } from '../../../ports/object-store';
import { OWN_PREFIX, type Bucket } from './digests';
import { asStoreErrors } from './s3-errors';

const PAGE_MAX = 1_000;

/** Keys under a prefix in ascending order, a page at a time. What the adapter keeps for itself is not told. */
export async function* listKeys(
  bucket: Bucket,
  prefix: string,
  {
    startAfter = '',
    limit = Infinity,
  }: { readonly startAfter?: string; readonly limit?: number } = {},
): AsyncGenerator<ListedObject> {
  let left = limit;
  let token: string | undefined;
  while (left > 0) {
    const page = await asStoreErrors(() =>
      bucket.client.send(
        new ListObjectsV2Command({
          Bucket: bucket.name,
          Prefix: prefix,
          MaxKeys: Math.min(left, PAGE_MAX),
          ...(startAfter === '' ? {} : { StartAfter: startAfter }),
          ...(token === undefined ? {} : { ContinuationToken: token }),
        }),
      ),
    );
    for (const { Key: key = '', Size: sizeBytes = 0, LastModified } of page.Contents ?? []) {
      if (key.startsWith(OWN_PREFIX) && !prefix.startsWith(OWN_PREFIX)) return;
      // Some stores list folders, which are no objects.
      if (key.endsWith('/')) continue;
      yield { key, sizeBytes, modifiedAt: LastModified ?? new Date(0) };
      left -= 1;
      if (left <= 0) return;
    }
    token = page.NextContinuationToken;
    if (page.IsTruncated !== true || token === undefined) return;
  }
}
