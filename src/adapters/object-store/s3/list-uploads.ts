import { ListMultipartUploadsCommand } from '@aws-sdk/client-s3';

import type { OpenPartUpload } from '../../../ports/part-uploads';
import type { Bucket } from './digests';
import { asStoreErrors } from './s3-errors';

/** Multipart uploads under a prefix that were neither completed nor aborted, whoever began them. */
export async function* listUploads(bucket: Bucket, prefix: string): AsyncGenerator<OpenPartUpload> {
  let from: { KeyMarker?: string; UploadIdMarker?: string } = {};
  for (;;) {
    const page = await asStoreErrors(() =>
      bucket.client.send(
        new ListMultipartUploadsCommand({ Bucket: bucket.name, Prefix: prefix, ...from }),
      ),
    );
    for (const { Key: key, UploadId: uploadId, Initiated } of page.Uploads ?? []) {
      if (key === undefined || uploadId === undefined || !key.startsWith(prefix)) continue;
      // One without a time is taken for new.
      yield { key, uploadId, beganAt: Initiated ?? new Date(8.64e15) };
    }
    if (page.IsTruncated !== true || page.NextKeyMarker === undefined) return;
    from = {
      KeyMarker: page.NextKeyMarker,
      ...(page.NextUploadIdMarker === undefined ? {} : { UploadIdMarker: page.NextUploadIdMarker }),
    };
  }
}
