import type { InvoiceClass } from '../../../domain/billing/invoice';
import type { InvoiceReads, InvoiceTotal } from '../../../ports/invoice-reads';
import type { Invoice, InvoiceItem } from '../../../ports/stores/invoice-store';
import type { PrismaClient } from '../generated/client';
import { cutOf, idBounds, toPage } from './page-rows';
import { translateFaults } from './prisma-errors';
import { toPort } from './to-port';

const EVER = { createdAfter: null, createdBefore: null } as const;

export const createInvoiceReads = (prisma: PrismaClient): InvoiceReads =>
  translateFaults<InvoiceReads>({
    read: async (id) => {
      const row = await prisma.provider_invoices.findUnique({ where: { id } });
      return row === null ? null : toPort<Invoice>(row);
    },
    page: async (page) => {
      const rows = await prisma.provider_invoices.findMany({
        where: { id: idBounds(page, EVER) },
        ...cutOf(page),
      });
      return toPage(
        rows.map((row) => toPort<Invoice>(row)),
        page,
      );
    },
    pageItems: async (invoiceId, classes, page) => {
      const rows = await prisma.provider_invoice_items.findMany({
        where: {
          invoice_id: invoiceId,
          id: idBounds(page, EVER),
          ...(classes === null ? {} : { class: { in: [...classes] } }),
        },
        ...cutOf(page),
      });
      return toPage(
        rows.map((row) => toPort<InvoiceItem>(row)),
        page,
      );
    },
    sum: async (invoiceId) => {
      const groups = await prisma.provider_invoice_items.groupBy({
        by: ['class', 'currency'],
        where: { invoice_id: invoiceId },
        _count: true,
        _sum: { amount: true, cost_micros: true, booked_micros: true },
        orderBy: [{ class: 'asc' }, { currency: 'asc' }],
      });
      return groups.map(({ class: found, currency, _count: items, _sum: sum }): InvoiceTotal => ({
        class: found as InvoiceClass,
        currency,
        items,
        amount: sum.amount?.toFixed() ?? '0',
        costMicros: sum.cost_micros ?? 0n,
        bookedMicros: sum.booked_micros ?? 0n,
      }));
    },
  });
