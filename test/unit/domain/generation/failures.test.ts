import {
  failureMessageOf,
  nextActionsOf,
  toFailureCode,
} from '../../../../src/domain/generation/failures';
import { FAILURE_POLICIES } from '../../../../src/domain/provider/failure-policy';

const calm = { outcomeOpen: false, isOperator: false, canPay: true };
const retries = ['RETRY', 'RETRY_LATER', 'CHANGE_PROMPT', 'CHANGE_MODEL', 'CHANGE_PARAMETERS'];

describe('a failure', () => {
  it('offers no other try while its outcome is open, whatever its code', () => {
    const codes = Object.values(FAILURE_POLICIES).map(({ publicCode }) => publicCode);
    for (const code of [...codes, 'SUBMIT_UNDECIDABLE', 'DEADLINE_PASSED'] as const) {
      const open = nextActionsOf(code, { ...calm, outcomeOpen: true });
      expect(open).toEqual(['ASK_PROVIDER', 'CONTACT_SUPPORT']);
      expect(open.filter((each) => retries.includes(each))).toEqual([]);
    }
    expect(
      nextActionsOf('SUBMIT_UNDECIDABLE', { outcomeOpen: true, isOperator: true, canPay: true }),
    ).toEqual(['ASK_PROVIDER', 'NEW_ATTEMPT_MAY_BE_CHARGED']);
    expect(nextActionsOf('SUBMIT_UNDECIDABLE', calm)).toEqual(['RETRY', 'CONTACT_SUPPORT']);
  });

  it('asks for credits first where another try would be refused for want of them', () => {
    const poor = { ...calm, canPay: false };
    expect(nextActionsOf('PROVIDER_FAILED', poor)).toEqual(['TOP_UP', 'RETRY', 'CHANGE_MODEL']);
    expect(nextActionsOf('OBJECT_CONFLICT', poor)).toEqual(['CONTACT_SUPPORT']);
  });

  it('of a code that nobody knows reads as the general one', () => {
    expect(toFailureCode('FROM_THE_FUTURE')).toBe('GENERATION_FAILED');
    expect(toFailureCode('OUTPUT_GONE')).toBe('OUTPUT_GONE');
    expect(failureMessageOf('GENERATION_FAILED')).toMatch(/could not be finished/);
  });
});
