export const TEXT_CHARS_MAX = 1_000;
export const REFERENCE_CHARS_MAX = 200;
export const INVOICE_BYTES_MAX = 1_048_576;
