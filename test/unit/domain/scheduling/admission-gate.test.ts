import { isAdmitted } from '../../../../src/domain/scheduling/admission-gate';

describe('the gate of admission', () => {
  it.each([
    [59_999, ['FREE', 'STANDARD', 'PREMIUM']],
    [60_000, ['STANDARD', 'PREMIUM']],
    [119_999, ['STANDARD', 'PREMIUM']],
    [120_000, ['PREMIUM']],
    [239_999, ['PREMIUM']],
    [240_000, []],
  ])('with an outbox %d ms old lets %j in', (ageMs, admitted) => {
    const tiers = ['FREE', 'STANDARD', 'PREMIUM'] as const;
    expect(tiers.filter((tier) => isAdmitted(tier, ageMs, 60_000))).toEqual(admitted);
  });
});
