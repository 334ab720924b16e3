import { describeIfAvailable } from '../../support/requirements';
import { describeObjectStore } from './describe-object-store';
import { BUILD_MS, startS3Store, type RunningS3Store } from './start-s3-store';

describeIfAvailable('go', 'the S3 store on a real server', () => {
  let running: RunningS3Store;

  describeObjectStore(
    'S3 on versitygw',
    async () => {
      running = await startS3Store();
      const { store, countLeftovers } = running;
      return {
        store,
        countLeftovers,
        close: async () => {
          const requests = await running.server.countRequests();
          process.stdout.write(`versitygw has answered ${requests} requests of the contract\n`);
          await running.close();
          // Nothing else could have answered: a suite that asked nothing has shown nothing.
          expect(requests).toBeGreaterThan(300);
        },
      };
    },
    { signedHead: false, sizeOn416: false, keysBelowKeys: false },
    BUILD_MS,
  );
});
