/**
 * Moderation of prompts, reference assets and outputs.
 *
 * Contract: answers within its own time limit. `REJECT` is final and carries a stable reason; `REVIEW` asks a person. A
 * moderator that cannot answer throws `ModerationUnavailableError`; the caller treats that as REVIEW, never as APPROVE.
 */
export interface Moderation {
  readonly rulesVersion: string;
  judgePrompt(input: {
    readonly prompt: string;
    readonly negativePrompt: string | null;
  }): Promise<ModerationVerdict>;
  judgeMedia(input: {
    readonly subject: 'ASSET' | 'OUTPUT';
    readonly path: string;
    readonly mime: string;
    readonly fileName: string | null;
    readonly sha256: string;
  }): Promise<ModerationVerdict>;
}

export type ModerationVerdict =
  | { readonly verdict: 'APPROVE' }
  | { readonly verdict: 'REJECT' | 'REVIEW'; readonly reasonCode: string };

export class ModerationUnavailableError extends Error {
  readonly code = 'MODERATION_UNAVAILABLE';
}
