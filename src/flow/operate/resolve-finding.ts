import { refuse } from '../../domain/generation/refusals';
import type { Finding } from '../../ports/stores/operations-store';
import type { FlowContext } from '../flow-context';
import { act, done, type Acted, type OperatorOrder } from './operator-action';

export type FindingRefusal = 'ALREADY_RESOLVED';

/** A person says that an anomaly is dealt with. It stays in the list of the resolved, and opens again when it is seen again. */
export const resolveFinding = (
  context: FlowContext,
  findingId: string,
  order: OperatorOrder,
): Promise<Acted<Finding, FindingRefusal>> =>
  act(
    context,
    'finding.resolve',
    order,
    async (tx) => {
      const finding = await tx.findings.lock(findingId);
      if (finding === null) return null;
      const { kind, subjectKind, subjectId, resolvedAt } = finding;
      return {
        kind: 'FINDING',
        id: finding.id,
        tenantId: finding.tenantId,
        before: { kind, subjectKind, subjectId, resolvedAt },
        row: finding,
      };
    },
    async (tx, finding) => {
      const resolvedAt = context.clock.now();
      const resolution = order.reason.trim();
      if (!(await tx.findings.resolve(finding.id, order.actor, resolution, resolvedAt))) {
        return refuse('ALREADY_RESOLVED', 'It was resolved before.', 'findingId');
      }
      const resolved = { ...finding, resolvedAt, resolvedBy: order.actor, resolution };
      return done(resolved, { resolvedAt, resolvedBy: order.actor });
    },
  );
