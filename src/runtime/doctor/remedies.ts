/** What to do about a part that does not answer, by what it said; the first that fits. */
const REMEDIES: Readonly<Record<string, readonly (readonly [RegExp, string])[]>> = {
  database: [
    [
      /unsupported startup parameter|prepared statement/i,
      'a pooler is in between: set AIVEDIO_DATABASE_POOLER=transaction, and AIVEDIO_DATABASE_DIRECT_URL to the server itself',
    ],
    [
      /password authentication|no password supplied|role .* does not exist/i,
      'put the right role and password into AIVEDIO_DATABASE_URL',
    ],
    [
      /database .* does not exist/i,
      'create that database, or name another in AIVEDIO_DATABASE_URL',
    ],
    [/replica/, 'name the primary in AIVEDIO_DATABASE_URL'],
    [
      /too many (clients|connections)|remaining connection slots/i,
      'raise max_connections of the server, or lower AIVEDIO_POOL_MAX of the processes',
    ],
    [
      /certificate|SSL|TLS|no encryption/i,
      'sslmode=verify-full&sslrootcert=<file of the CA> in AIVEDIO_DATABASE_URL; see docs/postgres.md',
    ],
    [/./, 'check host and port in AIVEDIO_DATABASE_URL, and that the server runs'],
  ],
  migrations: [[/./, 'npm run migrate, with AIVEDIO_DATABASE_URL set']],
  clock: [[/./, 'synchronise both machines (NTP, chrony)']],
  bus: [
    [/./, 'check AIVEDIO_ROCKETMQ_ENDPOINTS and the access keys, then: npm run cli -- bus check'],
  ],
  redis: [
    [
      /NOAUTH|WRONGPASS|NOPERM|invalid password/i,
      'put the right user and password into AIVEDIO_REDIS_URL',
    ],
    [/./, 'check host and port in AIVEDIO_REDIS_URL, and that the server runs'],
  ],
  'objects in S3': [
    [
      /credential|AccessKey|access key|signature|denied|forbidden|403/i,
      'put the right keys into AIVEDIO_S3_ACCESS_KEY_ID and AIVEDIO_S3_SECRET_ACCESS_KEY, and let them use the bucket',
    ],
    [
      /bucket|404/i,
      'name the bucket in AIVEDIO_S3_BUCKET, or create it; see docs/object-storage.md',
    ],
    [/./, 'check AIVEDIO_S3_ENDPOINT, AIVEDIO_S3_REGION, and that the store answers from here'],
  ],
  objects: [[/./, 'let the process write below AIVEDIO_DATA_DIR, with room left']],
  'media-tools': [[/./, 'install ffmpeg and ffprobe, or set AIVEDIO_FFMPEG and AIVEDIO_FFPROBE']],
  admission: [[/./, 'see that the relay worker runs and the bus answers']],
  providers: [[/./, 'look at the status of the provider; a circuit tries again by itself']],
  'provider sandbox': [
    [/HTTP_40[13]/, 'put the key that the provider knows into AIVEDIO_SANDBOX_API_KEY'],
    [
      /not configured/,
      'set AIVEDIO_SANDBOX_URL, AIVEDIO_SANDBOX_API_KEY and AIVEDIO_SANDBOX_WEBHOOK_SECRET',
    ],
    [
      /./,
      'check AIVEDIO_SANDBOX_URL (npm run migrate writes it to the account), and that the provider answers from here',
    ],
  ],
};

/** Null for a part of which nothing more is known than what it said. */
export const remedyOf = (part: string, detail: string): string | null => {
  const known = REMEDIES[part] ?? [];
  return known.find(([said]) => said.test(detail))?.[1] ?? null;
};
