import { createRateLimits } from '../../../src/adapters/rate-limits/rate-limits';
import { createRecordingLog } from '../recording-log';
import { describeRateLimits } from './describe-rate-limits';

describeRateLimits('memory', {
  open: () => createRateLimits({ shared: null, log: createRecordingLog() }),
  isShared: false,
});
