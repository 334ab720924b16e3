/** Where a client may send bytes. */
export interface UploadTicket {
  readonly url: string;
  readonly method: 'PUT';
  /** Headers the client must send exactly; part of what is signed. */
  readonly headers: Readonly<Record<string, string>>;
  readonly expiresAt: Date;
}
