import type { ObjectStore } from '../../../ports/object-store';
import type { S3ObjectStore, S3StoreOptions } from './s3-object-store';

export interface DeferredS3Store {
  readonly objects: ObjectStore;
  /** The store itself, for what the port does not have. */
  opened(): S3ObjectStore;
  close(): void;
}

/**
 * The store, whose code is loaded when it is first used: the SDK costs a process some hundred milliseconds and tens of
 * megabytes, and most processes of an installation without S3, and some of one with it, never touch an object.
 */
export const deferS3Store = (options: S3StoreOptions): DeferredS3Store => {
  let store: S3ObjectStore | null = null;
  const opened = (): S3ObjectStore => {
    if (store !== null) return store;
    // Not `import()`, which finds no named exports in a CommonJS build.
    const { createS3ObjectStore } =
      require('./s3-object-store') as typeof import('./s3-object-store');
    store = createS3ObjectStore(options);
    return store;
  };
  return {
    objects: {
      parts: {
        begin: async (...given) => opened().parts.begin(...given),
        presign: async (...given) => opened().parts.presign(...given),
        list: async (...given) => opened().parts.list(...given),
        complete: async (...given) => opened().parts.complete(...given),
        abort: async (...given) => opened().parts.abort(...given),
        listOpen: async function* (...given) {
          yield* opened().parts.listOpen(...given);
        },
      },
      putStream: async (...given) => opened().putStream(...given),
      getStream: async (...given) => opened().getStream(...given),
      head: async (...given) => opened().head(...given),
      measure: async (...given) => opened().measure(...given),
      prove: async (...given) => opened().prove(...given),
      copy: async (...given) => opened().copy(...given),
      delete: async (...given) => opened().delete(...given),
      deleteIfOlder: async (...given) => opened().deleteIfOlder(...given),
      list: async function* (...given) {
        yield* opened().list(...given);
      },
      presignPut: async (...given) => opened().presignPut(...given),
      presignGet: async (...given) => opened().presignGet(...given),
      presignGetPrefix: async (...given) => opened().presignGetPrefix(...given),
    },
    opened,
    close: () => store?.close(),
  };
};
