import { Length, NotContains, ValidateIf } from 'class-validator';
import { Args, ArgsType, Authorized, Ctx, Field, Query, Resolver } from 'type-graphql';

import type { FindingKind } from '../../domain/generation/decision';
import type { ProviderView } from '../../ports/operator-reads';
import type { ApiContext } from '../api-context';
import { AttemptType } from '../attempt';
import {
  connectionType,
  PageArgs,
  toConnection,
  toPageRequest,
  type Connection,
} from '../connection';
import { GenerationConnection, GenerationType } from '../generation-type';
import { toPublicId } from '../public-id';
import { TenantType } from '../viewer';
import { FindingConnection, FindingKindEnum, FindingType } from './finding';
import { ProviderWithAccounts } from './provider-type';
import {
  AuditEntryConnection,
  AuditEntryType,
  DeadMessageConnection,
  DeadMessageType,
} from './records';
import { internalSubject } from './subject';

const AttemptConnection = connectionType('Attempt', () => AttemptType);
const TenantConnection = connectionType('Tenant', () => TenantType);

@ArgsType()
export class FindingListArgs extends PageArgs {
  @Field(() => [FindingKindEnum], { nullable: true, description: 'Only these.' })
  kind?: FindingKind[] | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Only resolved ones, or only open ones; both when it is left out.',
  })
  resolved?: boolean | null;

  @Field(() => String, { nullable: true, description: 'Only of this thing, by its id.' })
  @ValidateIf(({ subjectId }: FindingListArgs) => subjectId != null)
  @Length(1, 100)
  @NotContains('\0')
  subjectId?: string | null;
}

@ArgsType()
export class AuditListArgs extends PageArgs {
  @Field(() => String, { nullable: true, description: 'Only of this thing, by its id.' })
  @ValidateIf(({ subjectId }: AuditListArgs) => subjectId != null)
  @Length(1, 100)
  @NotContains('\0')
  subjectId?: string | null;

  @Field(() => String, { nullable: true, description: 'Only by this actor.' })
  @ValidateIf(({ actor }: AuditListArgs) => actor != null)
  @Length(1, 100)
  @NotContains('\0')
  actor?: string | null;
}

@Resolver()
export class OperatorListsResolver {
  @Authorized('operator')
  @Query(() => GenerationConnection, {
    description: 'Operator: generations of all accounts whose prompt waits for a person.',
  })
  async generationsInReview(
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() { deps }: ApiContext,
  ): Promise<Connection<GenerationType>> {
    const request = toPageRequest('generation', args);
    const page = await deps.operatorReads.pageInReview(request);
    return toConnection('generation', request, page, (task) => new GenerationType(task));
  }

  @Authorized('operator')
  @Query(() => GenerationConnection, {
    description: 'Operator: generations of all accounts that go on only when a person decides.',
  })
  async generationsNeedingOperator(
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() { deps }: ApiContext,
  ): Promise<Connection<GenerationType>> {
    const request = toPageRequest('generation', args);
    const page = await deps.operatorReads.pageNeedingOperator(request);
    return toConnection('generation', request, page, (task) => new GenerationType(task));
  }

  @Authorized('operator')
  @Query(() => AttemptConnection, {
    description:
      'Operator: submits of all accounts of which nobody knows whether they made a job, and those given up that are watched.',
  })
  async unknownSubmits(
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() { deps }: ApiContext,
  ): Promise<Connection<AttemptType>> {
    const request = toPageRequest('attempt', args);
    const page = await deps.operatorReads.pageInDoubt(request);
    return toConnection('attempt', request, page, (attempt) => new AttemptType(attempt));
  }

  @Authorized('operator')
  @Query(() => FindingConnection, { description: 'Operator: anomalies, newest first.' })
  async findings(
    @Args(() => FindingListArgs) args: FindingListArgs,
    @Ctx() { deps }: ApiContext,
  ): Promise<Connection<FindingType>> {
    const request = toPageRequest('finding', args);
    const filter = {
      kinds: args.kind ?? null,
      resolved: args.resolved ?? null,
      subjectId: internalSubject(args.subjectId),
    };
    const page = await deps.operatorReads.pageFindings(filter, request);
    return toConnection('finding', request, page, (finding) => new FindingType(finding));
  }

  @Authorized('operator')
  @Query(() => DeadMessageConnection, { description: 'Operator: messages that were given up.' })
  async deadMessages(
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() { deps }: ApiContext,
  ): Promise<Connection<DeadMessageType>> {
    const request = toPageRequest('message', args);
    const page = await deps.operatorReads.pageDeadMessages(request);
    return toConnection('message', request, page, (message) => new DeadMessageType(message));
  }

  @Authorized('operator')
  @Query(() => AuditEntryConnection, {
    description: 'Operator: what operators did and tried, newest first.',
  })
  async auditEntries(
    @Args(() => AuditListArgs) args: AuditListArgs,
    @Ctx() { deps }: ApiContext,
  ): Promise<Connection<AuditEntryType>> {
    const request = toPageRequest('auditEntry', args);
    const filter = { subjectId: internalSubject(args.subjectId), actor: args.actor ?? null };
    const page = await deps.operatorReads.pageAudit(filter, request);
    return toConnection('auditEntry', request, page, (entry) => new AuditEntryType(entry));
  }

  @Authorized('operator')
  @Query(() => TenantConnection, {
    description: 'Operator: accounts, and which of them are paused.',
  })
  async tenants(
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() { deps }: ApiContext,
  ): Promise<Connection<TenantType>> {
    const request = toPageRequest('tenant', args);
    const page = await deps.operatorReads.pageTenants(request);
    return toConnection('tenant', request, page, ({ id, name, status }) => ({
      id: toPublicId('tenant', id),
      name,
      status,
    }));
  }

  @Authorized('operator')
  @Query(() => [ProviderWithAccounts], {
    description: 'Operator: providers, and which of them are paused.',
  })
  async providers(@Ctx() { deps }: ApiContext): Promise<readonly ProviderView[]> {
    return deps.operatorReads.listProviders();
  }
}
