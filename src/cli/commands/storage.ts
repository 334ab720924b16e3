import { openBucketAdministration } from '../../runtime/bucket-administration';
import { readConfig } from '../../runtime/config';
import { UsageError, type Command } from '../command';

const USAGE = [
  'Usage: npm run cli -- storage check | create',
  '',
  'The bucket of AIVEDIO_OBJECT_STORE=s3: whether endpoint, key and bucket fit, whether pages of AIVEDIO_PUBLIC_URL may upload',
  'and play (CORS), what ends unfinished uploads, and how the bucket encrypts. A folder on disk needs none of it.',
  '',
  '  check   says what is missing or otherwise than it must be, one line each, with the remedy',
  '  create  makes the bucket and its rules; may be repeated, and leaves alone what is right and what others made',
  '',
  'Exit code: 0 all is there, 1 something is missing, 2 could not look.',
].join('\n');

export const storageCommand: Command = {
  name: 'storage',
  says: 'creates or checks the bucket of the object store',
  run: async (words, print) => {
    const [verb] = words;
    if (words.includes('--help')) {
      print(USAGE);
      return 0;
    }
    if (verb !== 'check' && verb !== 'create') {
      throw new UsageError(`storage ${verb ?? ''}: say check or create.\n${USAGE}`);
    }
    const config = readConfig();
    if (config.objectStore.s3 === null) {
      print('ok       AIVEDIO_OBJECT_STORE=disk: a folder, which needs no bucket');
      return 0;
    }
    const administration = openBucketAdministration(config);
    const { fine, notes, problems } = await administration[verb]();
    for (const line of fine) print(`ok       ${line}`);
    for (const line of notes) print(`note     ${line}`);
    for (const { variable, says } of problems) print(`WRONG    ${variable}: ${says}`);
    print(`${config.objectStore.s3.bucket}: ${fine.length} right, ${problems.length} not`);
    if (problems.length === 0) return 0;
    // Without a first answer nothing was looked at, but that a bucket is missing is an answer.
    const looked =
      fine.length > 0 || problems.some((each) => each.variable === 'AIVEDIO_S3_BUCKET');
    return looked ? 1 : 2;
  },
};
