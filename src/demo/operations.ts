/** What the demo asks of the API: the same operations that any client would send. */

export const UPLOAD_CREATE = `mutation UploadCreate($input: AssetUploadCreateInput!) {
  assetUploadCreate(input: $input) {
    asset { id status }
    upload { url method headers { name value } expiresAt }
    userErrors { message code field }
  }
}`;

export const UPLOAD_COMPLETE = `mutation UploadComplete($input: AssetUploadCompleteInput!) {
  assetUploadComplete(input: $input) { asset { id status } userErrors { message code field } }
}`;

export const ASSET = `query Asset($id: ID!) { asset(id: $id) { id status rejection { code detail } } }`;

export const GENERATION_CREATE = `mutation GenerationCreate($input: GenerationCreateInput!) {
  generationCreate(input: $input) {
    generation { id status version price }
    replayed
    userErrors { message code field }
  }
}`;

export const GENERATION_UPDATED = `subscription GenerationUpdated($id: ID!) {
  generationUpdated(id: $id) { generation { id status version progress waiting { reason } } }
}`;

export const GENERATION = `query Generation($id: ID!) {
  generation(id: $id) {
    id status version progress model prompt price reserved settled createdAt finishedAt
    events { type source fromStatus toStatus version ignoredReason observedAt }
    attempts { number provider model jobId status providerStatus errorClass cost { amount currency } sentAt completedAt }
    ledgerEntries { kind amount availableChange heldChange reason createdAt }
    playback { url hlsUrl thumbnailUrl expiresAt }
    failure { code message money { held charged returned } nextActions }
  }
}`;

export interface UserError {
  readonly message: string;
  readonly code: string;
  readonly field: readonly string[] | string | null;
}

export interface GenerationReport {
  readonly id: string;
  readonly status: string;
  readonly version: number;
  readonly price: string;
  readonly reserved: string;
  readonly settled: string | null;
  readonly createdAt: string;
  readonly finishedAt: string | null;
  readonly events: readonly {
    readonly type: string;
    readonly source: string;
    readonly toStatus: string;
    readonly version: number;
    readonly ignoredReason: string | null;
    readonly observedAt: string;
  }[];
  readonly attempts: readonly {
    readonly number: number;
    readonly provider: string;
    readonly model: string;
    readonly jobId: string | null;
    readonly status: string;
    readonly errorClass: string | null;
    readonly cost: { readonly amount: string; readonly currency: string } | null;
  }[];
  readonly ledgerEntries: readonly {
    readonly kind: string;
    readonly amount: string;
    readonly availableChange: string;
    readonly heldChange: string;
    readonly reason: string;
  }[];
  readonly playback: {
    readonly url: string;
    readonly hlsUrl: string | null;
    readonly thumbnailUrl: string | null;
  } | null;
  readonly failure: {
    readonly code: string;
    readonly message: string;
    readonly money: { readonly held: string; readonly charged: string; readonly returned: string };
    readonly nextActions: readonly string[];
  } | null;
}
