import { z } from 'zod';

const url = z.url({ protocol: /^https?$/ }).transform((value) => value.replace(/\/+$/, ''));

/** Where objects are kept; a part of the schema in config.ts. */
export const objectStoreShape = {
  AIVEDIO_OBJECT_STORE: z.enum(['disk', 's3']).default('disk'),
  /** Where the processes reach the store; without it the address of the region at AWS. */
  AIVEDIO_S3_ENDPOINT: url.optional(),
  /** Where clients and providers reach it, if not there. */
  AIVEDIO_S3_PUBLIC_ENDPOINT: url.optional(),
  AIVEDIO_S3_REGION: z.string().min(1).default('us-east-1'),
  AIVEDIO_S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, '3 to 63 lower-case letters, digits, dots, dashes')
    .optional(),
  AIVEDIO_S3_ACCESS_KEY_ID: z.string().min(1).optional(),
  AIVEDIO_S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
  /** `path` is what most stores of one's own understand; AWS prefers `virtual`. */
  AIVEDIO_S3_ADDRESSING: z.enum(['path', 'virtual']).default('path'),
  /** Server-side encryption of each object; without it as the bucket says. */
  AIVEDIO_S3_ENCRYPTION: z
    .string()
    .regex(/^(AES256|aws:kms(:\S+)?)$/, 'AES256, aws:kms or aws:kms:<key id>')
    .optional(),
};

type Parsed = z.infer<z.ZodObject<typeof objectStoreShape>>;

export interface ObjectStoreConfig {
  readonly kind: 'disk' | 's3';
  /** Null on disk. */
  readonly s3: {
    readonly endpoint: string | null;
    readonly publicEndpoint: string | null;
    readonly region: string;
    readonly bucket: string;
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly addressing: 'path' | 'virtual';
    readonly encryption: string | null;
  } | null;
}

const NEEDED = {
  AIVEDIO_S3_BUCKET: 'the bucket that holds the objects',
  AIVEDIO_S3_ACCESS_KEY_ID: 'the id of the access key',
  AIVEDIO_S3_SECRET_ACCESS_KEY: 'the secret of the access key',
} as const;

export const objectStoreProblems = (values: Parsed): string[] =>
  values.AIVEDIO_OBJECT_STORE === 'disk'
    ? []
    : Object.entries(NEEDED)
        .filter(([name]) => values[name as keyof typeof NEEDED] === undefined)
        .map(([name, what]) => `${name}: AIVEDIO_OBJECT_STORE=s3 needs ${what}`);

/** After `objectStoreProblems` found none. */
export const shapeObjectStore = (values: Parsed): ObjectStoreConfig => ({
  kind: values.AIVEDIO_OBJECT_STORE,
  s3:
    values.AIVEDIO_OBJECT_STORE === 'disk'
      ? null
      : {
          endpoint: values.AIVEDIO_S3_ENDPOINT ?? null,
          publicEndpoint: values.AIVEDIO_S3_PUBLIC_ENDPOINT ?? null,
          region: values.AIVEDIO_S3_REGION,
          bucket: values.AIVEDIO_S3_BUCKET ?? '',
          accessKeyId: values.AIVEDIO_S3_ACCESS_KEY_ID ?? '',
          secretAccessKey: values.AIVEDIO_S3_SECRET_ACCESS_KEY ?? '',
          addressing: values.AIVEDIO_S3_ADDRESSING,
          encryption: values.AIVEDIO_S3_ENCRYPTION ?? null,
        },
});
