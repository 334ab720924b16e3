/** The four levels on which a submit needs a free place, the widest first. */
export type LimitName = 'PLATFORM' | 'PROVIDER' | 'ACCOUNT' | 'TENANT';

export interface AdmissionScope {
  readonly name: LimitName;
  /** As the slots count it: `platform`, `provider:<id>`, `account:<id>`, `tenant:<id>`. */
  readonly scope: string;
  readonly limitMax: number;
}

/** What one submit takes a place of, and how many places there are. Admission, repair and explanation ask here. */
export const admissionScopesOf = (submit: {
  readonly platformMax: number;
  readonly providerId: string;
  readonly account: { readonly id: string; readonly limitMax: number };
  readonly tenant: { readonly id: string; readonly limitMax: number };
}): AdmissionScope[] => [
  { name: 'PLATFORM', scope: 'platform', limitMax: submit.platformMax },
  { name: 'PROVIDER', scope: `provider:${submit.providerId}`, limitMax: submit.platformMax },
  { name: 'ACCOUNT', scope: `account:${submit.account.id}`, limitMax: submit.account.limitMax },
  { name: 'TENANT', scope: `tenant:${submit.tenant.id}`, limitMax: submit.tenant.limitMax },
];
