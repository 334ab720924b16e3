import {
  Arg,
  Args,
  ArgsType,
  Authorized,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Query,
  Resolver,
  Root,
} from 'type-graphql';

import type { InvoiceClass } from '../../domain/billing/invoice';
import type { ApiContext } from '../api-context';
import { PageArgs, toConnection, toPageRequest, type Connection } from '../connection';
import { toUuid } from '../public-id';
import {
  InvoiceClassEnum,
  InvoiceConnection,
  InvoiceItemConnection,
  InvoiceItemType,
  InvoiceTotalType,
  InvoiceType,
} from './invoice-type';

@ArgsType()
export class InvoiceItemArgs extends PageArgs {
  @Field(() => [InvoiceClassEnum], { nullable: true, description: 'Only these.' })
  class?: InvoiceClass[] | null;
}

@Resolver(() => InvoiceType)
export class InvoiceResolver {
  @Authorized('operator')
  @Query(() => InvoiceType, {
    nullable: true,
    description: 'Operator: an invoice; null where there is none.',
  })
  async invoice(
    @Arg('id', () => ID, { description: 'As `inv_…`.' }) id: string,
    @Ctx() { deps }: ApiContext,
  ): Promise<InvoiceType | null> {
    const invoice = await deps.invoices.read(toUuid('invoice', id));
    return invoice === null ? null : new InvoiceType(invoice);
  }

  @Authorized('operator')
  @Query(() => InvoiceConnection, { description: 'Operator: imported invoices, newest first.' })
  async invoices(
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() { deps }: ApiContext,
  ): Promise<Connection<InvoiceType>> {
    const request = toPageRequest('invoice', args);
    const page = await deps.invoices.page(request);
    return toConnection('invoice', request, page, (row) => new InvoiceType(row));
  }

  @FieldResolver(() => [InvoiceTotalType], {
    description: 'Its items by class and currency, with the difference to what was booked.',
  })
  async totals(
    @Root() { invoice }: InvoiceType,
    @Ctx() { deps }: ApiContext,
  ): Promise<InvoiceTotalType[]> {
    const totals = await deps.invoices.sum(invoice.id);
    return totals.map((total) => new InvoiceTotalType(total));
  }

  @FieldResolver(() => InvoiceItemConnection, {
    description: 'Its items, the last of the file first.',
  })
  async items(
    @Root() { invoice }: InvoiceType,
    @Args(() => InvoiceItemArgs) args: InvoiceItemArgs,
    @Ctx() { deps }: ApiContext,
  ): Promise<Connection<InvoiceItemType>> {
    const request = toPageRequest('invoiceItem', args);
    const page = await deps.invoices.pageItems(invoice.id, args.class ?? null, request);
    return toConnection('invoiceItem', request, page, (row) => new InvoiceItemType(row));
  }
}
