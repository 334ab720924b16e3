import type { ProviderCharge } from './vocabulary';

const AMOUNT = /^\d{1,12}(\.\d{1,6})?$/;
const CURRENCY = /^[A-Z]{3}$/;

/** Whether the books can hold it: a plain decimal of at most 12 digits before and 6 after the point, in a currency by its code. */
export const isBookableCharge = (charge: ProviderCharge): boolean =>
  AMOUNT.test(charge.amount) && CURRENCY.test(charge.currency);

/** Equal as money: amounts may differ in zeros that say nothing, as the database adds them. */
export const isSameCharge = (a: ProviderCharge, b: ProviderCharge): boolean =>
  a.currency === b.currency && plain(a.amount) === plain(b.amount);

const plain = (amount: string): string => {
  const [whole = '', fraction = ''] = amount.split('.');
  return `${whole.replace(/^0+/, '')}.${fraction.replace(/0+$/, '')}`;
};
