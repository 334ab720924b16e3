import type { Moderation, ModerationVerdict } from '../../ports/moderation';

export interface ModerationRules {
  readonly version: string;
  /** Words or phrases, matched whole and regardless of case, accents and spacing. */
  readonly rejectTerms: readonly { readonly term: string; readonly reasonCode: string }[];
  readonly reviewTerms: readonly { readonly term: string; readonly reasonCode: string }[];
  /** Lower-case hex SHA-256 of files that are known and refused. */
  readonly rejectSha256: readonly string[];
  readonly reviewSha256: readonly string[];
}

/** A small, honest beginning: what the law forbids nearly everywhere, and what a person should look at. */
export const DEFAULT_RULES: ModerationRules = {
  version: 'rules-1',
  rejectTerms: [
    { term: 'child sexual', reasonCode: 'CHILD_SAFETY' },
    { term: 'sexualized minor', reasonCode: 'CHILD_SAFETY' },
    { term: 'bestiality', reasonCode: 'SEXUAL_VIOLENCE' },
    { term: 'rape scene', reasonCode: 'SEXUAL_VIOLENCE' },
    { term: 'beheading', reasonCode: 'GRAPHIC_VIOLENCE' },
    { term: 'how to build a bomb', reasonCode: 'DANGEROUS_INSTRUCTIONS' },
  ],
  reviewTerms: [
    { term: 'deepfake', reasonCode: 'IMPERSONATION' },
    { term: 'nude', reasonCode: 'SEXUAL_CONTENT' },
    { term: 'suicide', reasonCode: 'SELF_HARM' },
    { term: 'swastika', reasonCode: 'HATE_SYMBOL' },
  ],
  rejectSha256: [],
  reviewSha256: [],
};

/** Judges text by a word list and files by their name and digest. Deterministic, local, and never unavailable. */
export const createRuleModeration = (rules: ModerationRules): Moderation => {
  const reject = rules.rejectTerms.map(compile);
  const review = rules.reviewTerms.map(compile);
  const judgeText = (text: string): ModerationVerdict => {
    const plain = fold(text);
    const refused = reject.find(({ pattern }) => pattern.test(plain));
    if (refused !== undefined) return { verdict: 'REJECT', reasonCode: refused.reasonCode };
    const doubtful = review.find(({ pattern }) => pattern.test(plain));
    return doubtful === undefined
      ? { verdict: 'APPROVE' }
      : { verdict: 'REVIEW', reasonCode: doubtful.reasonCode };
  };
  return {
    rulesVersion: rules.version,
    // A negative prompt names what shall not be shown, so it cannot make a prompt unacceptable.
    judgePrompt: ({ prompt }) => Promise.resolve(judgeText(prompt)),
    judgeMedia: ({ sha256, fileName }) => {
      if (rules.rejectSha256.includes(sha256)) {
        return Promise.resolve({ verdict: 'REJECT', reasonCode: 'KNOWN_FILE' });
      }
      if (rules.reviewSha256.includes(sha256)) {
        return Promise.resolve({ verdict: 'REVIEW', reasonCode: 'KNOWN_FILE' });
      }
      return Promise.resolve(judgeText(fileName ?? ''));
    },
  };
};

const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ');

const compile = (rule: { term: string; reasonCode: string }) => ({
  pattern: new RegExp(`(^| )${fold(rule.term).trim()}( |$)`, 'u'),
  reasonCode: rule.reasonCode,
});
