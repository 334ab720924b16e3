import type { AdmissionScope, LimitName } from './admission';
import { waitMs } from '../capacity/formulas';

/** One that waits, as the scheduler's own query orders them. */
export interface InLine {
  readonly taskId: string;
  readonly tenantId: string;
  readonly model: string;
  /** How many of its tenant may be in flight. */
  readonly tenantMax: number;
}

export interface LineFacts {
  /** In the order in which the scheduler serves them. */
  readonly line: readonly InLine[];
  readonly scopes: readonly AdmissionScope[];
  /** Places in use by scope; a scope that is missing has none in use. */
  readonly inUse: Readonly<Record<string, number>>;
  /** Whether a task of this model would take a place at the same provider. */
  readonly competes: (model: string) => boolean;
  /** How long a submit has kept its place of late; null while nobody knows. */
  readonly meanHeldMs: number | null;
}

export interface LimitVerdict {
  readonly name: LimitName;
  readonly used: number;
  readonly max: number;
  /** Places that must come free before it is served: 1 = the next free place is its own. */
  readonly position: number;
}

export interface PlaceInLine {
  /** Among all that are due, 1 = served next; null when it is not due, or too far back to be counted. */
  readonly position: number | null;
  /** What it waits for; null when a place is free for it. */
  readonly limit: LimitVerdict | null;
  /** Null when it cannot be told. */
  readonly estimateMs: number | null;
}

/**
 * Where a waiting task stands, and what holds it up. The scheduler passes over tenants that are at their limit, so those who
 * stand ahead count at the wider levels only as far as their own tenant has room.
 */
export const placeInLine = (taskId: string, facts: LineFacts): PlaceInLine => {
  const index = facts.line.findIndex((each) => each.taskId === taskId);
  const self = facts.line[index];
  if (self === undefined) return { position: null, limit: null, estimateMs: null };
  const ahead = facts.line.slice(0, index);
  const verdicts = facts.scopes.map((each) => judgeLimit(each, ahead, self, facts));
  // Of two that take as long the narrower one: that is nearer to who asks.
  const worst = verdicts
    .reverse()
    .filter(({ limit }) => limit.position > 0)
    .sort((a, b) => b.share - a.share)[0];
  if (worst === undefined) return { position: index + 1, limit: null, estimateMs: 0 };
  const { limit } = worst;
  const estimateMs =
    facts.meanHeldMs === null || limit.max === 0
      ? null
      : Math.round(waitMs(limit.position, limit.max, facts.meanHeldMs));
  return { position: index + 1, limit, estimateMs };
};

const judgeLimit = (
  scope: AdmissionScope,
  ahead: readonly InLine[],
  self: InLine,
  facts: LineFacts,
): { readonly limit: LimitVerdict; readonly share: number } => {
  const used = facts.inUse[scope.scope] ?? 0;
  const free = Math.max(0, scope.limitMax - used);
  const position = placeAt(scope.name, ahead, self, facts) - free;
  return {
    limit: { name: scope.name, used, max: scope.limitMax, position },
    // How many rounds of the whole limit pass before its turn: what makes two limits comparable.
    share: position / Math.max(scope.limitMax, Number.EPSILON),
  };
};

const placeAt = (
  name: LimitName,
  ahead: readonly InLine[],
  self: InLine,
  facts: LineFacts,
): number => {
  const own = ahead.filter((each) => each.tenantId === self.tenantId);
  if (name === 'TENANT') return own.length + 1;
  const rivals = new Map<string, { count: number; max: number }>();
  for (const each of ahead) {
    if (each.tenantId === self.tenantId) continue;
    if (name !== 'PLATFORM' && !facts.competes(each.model)) continue;
    const count = (rivals.get(each.tenantId)?.count ?? 0) + 1;
    rivals.set(each.tenantId, { count, max: each.tenantMax });
  }
  let place = own.filter((each) => name === 'PLATFORM' || facts.competes(each.model)).length + 1;
  for (const [tenantId, { count, max }] of rivals) {
    const room = Math.max(0, max - (facts.inUse[`tenant:${tenantId}`] ?? 0));
    place += Math.min(count, room);
  }
  return place;
};
