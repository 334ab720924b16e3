import {
  ATTEMPT_STATUSES,
  ATTEMPT_TRANSITIONS,
  holdsSlot,
  isAttemptSettled,
  mayAttemptMove,
  type AttemptStatus,
} from '../../../../src/domain/attempt/statuses';

/** One line for each status: where it may go, and nowhere else. */
const LAW: readonly (readonly [from: AttemptStatus, to: string])[] = [
  ['NEW', 'SENDING CANCELED FAILED_BEFORE_ACCEPT'],
  ['SENDING', 'ACKED UNKNOWN RUNNING SUCCEEDED FAILED CANCELED FAILED_BEFORE_ACCEPT'],
  ['UNKNOWN', 'ACKED RUNNING SUCCEEDED FAILED CANCELED FAILED_BEFORE_ACCEPT ABANDONED'],
  ['ACKED', 'RUNNING SUCCEEDED FAILED CANCELED'],
  ['RUNNING', 'SUCCEEDED FAILED CANCELED'],
  ['ABANDONED', 'ACKED RUNNING SUCCEEDED FAILED CANCELED FAILED_BEFORE_ACCEPT'],
  ['SUCCEEDED', ''],
  ['FAILED', ''],
  ['CANCELED', ''],
  ['FAILED_BEFORE_ACCEPT', 'ACKED RUNNING SUCCEEDED FAILED CANCELED'],
];

describe('the law of an attempt', () => {
  it.each(LAW)('%s may become: %s', (from, to) => {
    const allowed = ATTEMPT_STATUSES.filter((status) => mayAttemptMove(from, status));
    expect([...allowed].sort()).toEqual(to.split(' ').filter(Boolean).sort());
  });

  it('has one line for every status', () => {
    expect(LAW.map(([from]) => from).sort()).toEqual([...ATTEMPT_STATUSES].sort());
    expect(Object.keys(ATTEMPT_TRANSITIONS).sort()).toEqual([...ATTEMPT_STATUSES].sort());
  });

  it('reaches "nothing was created" only from where nothing was confirmed', () => {
    const from = ATTEMPT_STATUSES.filter((each) => mayAttemptMove(each, 'FAILED_BEFORE_ACCEPT'));
    expect(from).toEqual(['NEW', 'SENDING', 'UNKNOWN', 'ABANDONED']);
  });

  it('gives an attempt up for lost only when its outcome is unknown', () => {
    const from = ATTEMPT_STATUSES.filter((each) => mayAttemptMove(each, 'ABANDONED'));
    expect(from).toEqual(['UNKNOWN']);
  });

  it('keeps the slot of whatever may have a living job, an unknown one included', () => {
    expect(ATTEMPT_STATUSES.filter(holdsSlot)).toEqual([
      ...['NEW', 'SENDING', 'UNKNOWN', 'ACKED', 'RUNNING'],
    ]);
    expect(ATTEMPT_STATUSES.filter(isAttemptSettled)).toEqual([
      ...['SUCCEEDED', 'FAILED', 'CANCELED', 'FAILED_BEFORE_ACCEPT'],
    ]);
  });
});
