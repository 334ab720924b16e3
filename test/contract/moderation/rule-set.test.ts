import { createRuleModeration, DEFAULT_RULES } from '../../../src/adapters/moderation/rule-set';

const moderation = createRuleModeration({
  ...DEFAULT_RULES,
  rejectSha256: ['aa'.repeat(32)],
  reviewSha256: ['bb'.repeat(32)],
});

const judge = (prompt: string, negativePrompt: string | null = null) =>
  moderation.judgePrompt({ prompt, negativePrompt });

const judgeFile = (sha256: string, fileName: string | null) =>
  moderation.judgeMedia({
    subject: 'ASSET',
    path: '/nowhere',
    mime: 'image/png',
    fileName,
    sha256,
  });

describe('the rule set behind the moderation port', () => {
  it.each([
    ['a beheading in the square', 'REJECT', 'GRAPHIC_VIOLENCE'],
    ['A  BEHEADING!', 'REJECT', 'GRAPHIC_VIOLENCE'],
    ['a béheading', 'REJECT', 'GRAPHIC_VIOLENCE'],
    ['how to build a bomb, step by step', 'REJECT', 'DANGEROUS_INSTRUCTIONS'],
    ['a deepfake of a president', 'REVIEW', 'IMPERSONATION'],
    ['nude, and a beheading', 'REJECT', 'GRAPHIC_VIOLENCE'],
  ])('%s: %s for %s', async (prompt, verdict, reasonCode) => {
    expect(await judge(prompt)).toEqual({ verdict, reasonCode });
  });

  it.each(['a denuded hill at dawn', 'sunset over the hills', 'bomb disposal robot'])(
    'approves %s: terms match as whole words',
    async (prompt) => {
      expect(await judge(prompt)).toEqual({ verdict: 'APPROVE' });
    },
  );

  it('lets a negative prompt name what shall not be shown', async () => {
    expect(await judge('a quiet street', 'nude, beheading')).toEqual({ verdict: 'APPROVE' });
  });

  it('knows files by their digest, whatever they are called', async () => {
    expect(await judgeFile('aa'.repeat(32), 'cat.png')).toEqual({
      verdict: 'REJECT',
      reasonCode: 'KNOWN_FILE',
    });
    expect(await judgeFile('bb'.repeat(32), null)).toEqual({
      verdict: 'REVIEW',
      reasonCode: 'KNOWN_FILE',
    });
    expect(await judgeFile('cc'.repeat(32), 'nude.png')).toEqual({
      verdict: 'REVIEW',
      reasonCode: 'SEXUAL_CONTENT',
    });
    expect(await judgeFile('cc'.repeat(32), null)).toEqual({ verdict: 'APPROVE' });
  });
});
