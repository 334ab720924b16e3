import { parsePublicId, toPublicId, type IdKind } from '../public-id';

const ID_KINDS: Readonly<Record<string, IdKind>> = {
  task: 'generation',
  generation: 'generation',
  prompt: 'generation',
  attempt: 'attempt',
  asset: 'asset',
  output: 'asset',
  message: 'message',
  provider_event: 'providerEvent',
  tenant: 'tenant',
  account: 'tenant',
  finding: 'finding',
  invoice: 'invoice',
  invoice_item: 'invoiceItem',
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The public id of what a finding or an audit entry is about; what has none (a provider, a slot) is named as it is. */
export const publicSubject = (kind: string, id: string): string => {
  const idKind = ID_KINDS[kind.toLowerCase()];
  return idKind === undefined || !UUID.test(id) ? id : toPublicId(idKind, id);
};

/** The other way round, for filters. */
export const internalSubject = (id: string | null | undefined): string | null =>
  id == null ? null : (parsePublicId(id)?.uuid ?? id);

export const tenantIdOf = ({ tenantId }: { readonly tenantId: string | null }): string | null =>
  tenantId === null ? null : toPublicId('tenant', tenantId);
