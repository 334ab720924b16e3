import { ConfigError, readConfig } from '../../../src/runtime/config';

const problemsOf = (env: Record<string, string>): readonly string[] => {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
};

describe('the configuration', () => {
  it('has a default for everything on one machine', () => {
    const config = readConfig({});
    expect(config.databaseUrl).toBeNull();
    expect(config.production).toBe(false);
    expect(config.publicUrl).toBe('http://127.0.0.1:4000');
    expect(config.providerFacingUrl).toBe(config.publicUrl);
  });

  it('wants bucket and keys for objects on S3, and leaves them alone on disk', () => {
    expect(readConfig({}).objectStore).toEqual({ kind: 'disk', s3: null });
    expect(
      problemsOf({ AIVEDIO_OBJECT_STORE: 's3', AIVEDIO_S3_BUCKET: 'media' }).map(
        (problem) => problem.split(':')[0],
      ),
    ).toEqual(['AIVEDIO_S3_ACCESS_KEY_ID', 'AIVEDIO_S3_SECRET_ACCESS_KEY']);
    const given = {
      AIVEDIO_OBJECT_STORE: 's3',
      AIVEDIO_S3_ENDPOINT: 'http://127.0.0.1:7070/',
      AIVEDIO_S3_BUCKET: 'media',
      AIVEDIO_S3_ACCESS_KEY_ID: 'id',
      AIVEDIO_S3_SECRET_ACCESS_KEY: 'secret',
    };
    expect(readConfig(given).objectStore.s3).toMatchObject({
      endpoint: 'http://127.0.0.1:7070',
      publicEndpoint: null,
      addressing: 'path',
      encryption: null,
    });
    expect(problemsOf({ ...given, AIVEDIO_S3_ENCRYPTION: 'rot13' })[0]).toContain(
      'AIVEDIO_S3_ENCRYPTION',
    );
  });

  it('lists every problem at once, by the name of its variable', () => {
    const problems = problemsOf({
      AIVEDIO_HTTP_PORT: '70000',
      AIVEDIO_PUBLIC_URL: 'not a url',
      AIVEDIO_SANDBOX_CONCURRENCY: '0',
    });
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'AIVEDIO_HTTP_PORT',
      'AIVEDIO_PUBLIC_URL',
      'AIVEDIO_SANDBOX_CONCURRENCY',
    ]);
  });

  it('refuses in production what only suits one machine or a test', () => {
    const problems = problemsOf({
      AIVEDIO_ENV: 'production',
      AIVEDIO_CRASH_POINT: 'create.before_commit',
      AIVEDIO_CLOCK_OFFSET_MS: '1000',
    });
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'AIVEDIO_DATABASE_URL',
      'AIVEDIO_SIGNING_SECRET',
      'AIVEDIO_PUBLIC_URL',
      'AIVEDIO_CRASH_POINT',
      'AIVEDIO_CLOCK_OFFSET_MS',
    ]);
  });

  it('takes an empty variable as one that is not set', () => {
    expect(readConfig({ AIVEDIO_DATABASE_URL: '', AIVEDIO_PUBLIC_URL: '' }).databaseUrl).toBeNull();
  });
});
