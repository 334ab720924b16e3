/** Prefixes of public ids, by what they name. */
export const ID_PREFIXES = {
  generation: 'gen',
  asset: 'ast',
  attempt: 'att',
  ledgerEntry: 'led',
  apiKey: 'key',
  project: 'prj',
  tenant: 'ten',
  quote: 'quo',
  event: 'evt',
  invoice: 'inv',
  invoiceItem: 'ini',
  message: 'msg',
  providerEvent: 'pev',
  finding: 'fnd',
  auditEntry: 'aud',
} as const;
export type IdKind = keyof typeof ID_PREFIXES;

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const SUFFIX_CHARS = 26;
const BITS_PER_CHAR = 5n;
const SUFFIX = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** A UUID as a TypeID: `gen_01h455vb4pex5vsknk084sn02q`. */
export const toPublicId = (kind: IdKind, uuid: string): string => {
  let bits = BigInt(`0x${uuid.replaceAll('-', '')}`);
  let suffix = '';
  for (let i = 0; i < SUFFIX_CHARS; i += 1) {
    suffix = (ALPHABET[Number(bits & 31n)] as string) + suffix;
    bits >>= BITS_PER_CHAR;
  }
  return `${ID_PREFIXES[kind]}_${suffix}`;
};

/** The UUID and the kind behind a public id; null for anything that no id of ours can be. */
export const parsePublicId = (text: string): { kind: IdKind; uuid: string } | null => {
  const border = text.indexOf('_');
  const prefix = text.slice(0, Math.max(border, 0));
  const suffix = text.slice(border + 1);
  const kind = KIND_OF_PREFIX.get(prefix);
  if (kind === undefined || !SUFFIX.test(suffix)) return null;
  let bits = 0n;
  for (const character of suffix) {
    bits = (bits << BITS_PER_CHAR) | BigInt(ALPHABET.indexOf(character));
  }
  const hex = bits.toString(16).padStart(32, '0');
  const uuid = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-');
  return { kind, uuid };
};

const KIND_OF_PREFIX = new Map<string, IdKind>(
  (Object.entries(ID_PREFIXES) as [IdKind, string][]).map(([kind, prefix]) => [prefix, kind]),
);

/** No row has this id: what a malformed id, or one of another kind, reads as. */
const NOWHERE = '00000000-0000-0000-0000-000000000000';

/** The UUID of an id of the given kind. Garbage and ids of other kinds answer one that no row has. */
export const toUuid = (kind: IdKind, text: string): string => {
  const parsed = parsePublicId(text);
  return parsed?.kind === kind ? parsed.uuid : NOWHERE;
};
