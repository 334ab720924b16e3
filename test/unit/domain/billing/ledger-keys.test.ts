import fc from 'fast-check';

import { ledgerKeys, unchargedItemKey } from '../../../../src/domain/billing/outcomes';

const NAME = fc.stringMatching(/^[\x21-\x7e]{1,20}$/);
const ID = fc.uuid();

describe('business keys', () => {
  it('of invoice items and of references given by hand never meet', () => {
    fc.assert(
      fc.property(ID, NAME, NAME, (id, item, reference) => {
        const byItem = ledgerKeys.adjustment(id, item);
        expect(byItem).not.toBe(ledgerKeys.adjustmentByReference(id, reference));
        // Nor where the one is made from the other.
        expect(ledgerKeys.adjustment(id, `ref:${reference}`)).not.toBe(
          ledgerKeys.adjustmentByReference(id, reference),
        );
        expect(byItem).not.toBe(ledgerKeys.adjustmentByReference(id, `item:${item}`));
      }),
    );
  });

  it('of refunds that were counted and of references never meet', () => {
    fc.assert(
      fc.property(ID, fc.nat(), NAME, (id, n, reference) => {
        expect(ledgerKeys.refund(id, n)).not.toBe(ledgerKeys.refundByReference(id, reference));
        expect(ledgerKeys.refund(id, n)).not.toBe(ledgerKeys.refundByReference(id, String(n)));
      }),
    );
  });

  it('of grants are of one tenant, whatever the reference', () => {
    fc.assert(
      fc.property(ID, ID, NAME, NAME, (one, other, first, second) => {
        fc.pre(one !== other);
        expect(ledgerKeys.grant(one, first)).not.toBe(ledgerKeys.grant(other, second));
        expect(ledgerKeys.grant(one, first)).not.toBe(ledgerKeys.firstGrant(one));
      }),
    );
  });

  it('of charges that are missing on an invoice are no id that an item can have', () => {
    fc.assert(fc.property(ID, (id) => expect(unchargedItemKey(id)).not.toMatch(/^[\x21-\x7e]+$/)));
  });
});
