import type { CORSRule, LifecycleRule } from '@aws-sdk/client-s3';

/** What a page that uploads and plays sends across origins. */
const METHODS = ['GET', 'HEAD', 'PUT'] as const;
/** Headers of a signed PUT, and the one that players seek with. */
const SENT_HEADERS = [
  ...['content-type', 'x-amz-checksum-sha256', 'x-amz-meta-sha256'],
  ...['x-amz-server-side-encryption', 'range'],
];
/** What a page may read of an answer only when the bucket says so. */
const READ_HEADERS = ['ETag', 'Content-Length', 'Content-Range', 'Accept-Ranges'];
const PREFLIGHT_AGE_SECONDS = 3_600;

/** Rules of this product carry these names, so that it replaces its own and leaves those of others alone. */
const CORS_RULE = 'aivedio-pages';
const UNFINISHED_RULE = 'aivedio-unfinished-uploads';
/** Longer than the product's own sweeper waits: the rule is there for when no process of it runs. */
const UNFINISHED_DAYS = 7;

/** What pages of this origin cannot do with these rules; empty: everything they need. */
export const judgeCors = (rules: readonly CORSRule[], origin: string): readonly string[] =>
  METHODS.flatMap((method) => {
    // A browser goes by the first rule that fits origin and method.
    const rule = rules.find(
      (each) =>
        each.AllowedMethods?.includes(method) === true &&
        each.AllowedOrigins?.some((pattern) => fits(pattern, origin)) === true,
    );
    if (rule === undefined) return [`allows no ${method}`];
    const allowed = rule.AllowedHeaders ?? [];
    const unsent = SENT_HEADERS.filter((name) => !allowed.some((pattern) => fits(pattern, name)));
    const unread = READ_HEADERS.filter(
      (name) => rule.ExposeHeaders?.some((pattern) => fits(pattern, name)) !== true,
    );
    return [
      ...(unsent.length > 0 ? [`lets ${method} not send ${unsent.join(', ')}`] : []),
      ...(unread.length > 0 ? [`does not expose ${unread.join(', ')} to ${method}`] : []),
    ];
  });

/** `*` stands for anything, at one place of the pattern. */
const fits = (pattern: string, text: string): boolean => {
  const [before = '', after] = pattern.toLowerCase().split('*');
  const value = text.toLowerCase();
  return after === undefined
    ? value === before
    : value.length >= before.length + after.length &&
        value.startsWith(before) &&
        value.endsWith(after);
};

/** The first, since the first that fits is the one that counts. */
export const withCors = (rules: readonly CORSRule[], origin: string): CORSRule[] => [
  {
    ID: CORS_RULE,
    AllowedOrigins: [origin],
    AllowedMethods: [...METHODS],
    AllowedHeaders: ['*'],
    ExposeHeaders: READ_HEADERS,
    MaxAgeSeconds: PREFLIGHT_AGE_SECONDS,
  },
  ...rules.filter((each) => each.ID !== CORS_RULE),
];

/** After how many days unfinished uploads of the whole bucket go; null: never. */
export const unfinishedDays = (rules: readonly LifecycleRule[]): number | null => {
  const days = rules
    .filter((each) => each.Status === 'Enabled' && isWholeBucket(each))
    .flatMap((each) => each.AbortIncompleteMultipartUpload?.DaysAfterInitiation ?? []);
  return days.length === 0 ? null : Math.min(...days);
};

/** `Prefix` beside the filter is how it was said before there were filters; some stores still answer it. */
const isWholeBucket = ({
  Filter: filter,
  Prefix: prefix,
}: LifecycleRule & { readonly Prefix?: string | undefined }): boolean =>
  (prefix ?? '') === '' &&
  (filter?.Prefix ?? '') === '' &&
  filter?.Tag === undefined &&
  filter?.And === undefined;

export const withUnfinishedRule = (rules: readonly LifecycleRule[]): LifecycleRule[] => [
  ...rules.filter((each) => each.ID !== UNFINISHED_RULE),
  {
    ID: UNFINISHED_RULE,
    Status: 'Enabled',
    Filter: { Prefix: '' },
    AbortIncompleteMultipartUpload: { DaysAfterInitiation: UNFINISHED_DAYS },
  },
];
