import type { TimelineEntry } from '../../ports/read-model';

/** What only an operator sees: notes made for operators, and digests of what is not the tenant's. */
const OPERATOR_FACTS = new Set(['detail', 'before', 'after', 'outputUrlSha256', 'account']);

/** Who may be named to a tenant: its own keys and the product's own parts. */
const isOwn = (entry: TimelineEntry): boolean =>
  entry.kind === 'API_CALL' || entry.actor === 'rules' || entry.actor === 'system';

/** An entry as its tenant may see it: operators have no names, and their notes stay with them. */
export const forTenant = (entry: TimelineEntry): TimelineEntry => ({
  ...entry,
  actor: entry.actor === null || isOwn(entry) ? entry.actor : 'operator',
  facts: Object.fromEntries(
    Object.entries(entry.facts).filter(
      ([name]) => !OPERATOR_FACTS.has(name) && !(entry.kind === 'OPERATOR' && name === 'reason'),
    ),
  ),
});
