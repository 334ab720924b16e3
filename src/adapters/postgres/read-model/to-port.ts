import { Prisma } from '../generated/client';

const keys = new Map<string, string>();

const camelCase = (column: string): string => {
  let key = keys.get(column);
  if (key === undefined) {
    key = column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    keys.set(column, key);
  }
  return key;
};

/** A row as its port type: camelCase keys, exact decimals as text. `T` is the caller's word for it. */
export const toPort = <T>(row: Readonly<Record<string, unknown>>): T => {
  const out: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(row)) {
    out[camelCase(column)] = value instanceof Prisma.Decimal ? value.toFixed() : value;
  }
  return out as T;
};
