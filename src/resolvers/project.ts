import { callerOf, type ApiContext } from './api-context';
import { toUuid } from './public-id';

/** Whether the caller's tenant has the project; none asked for is as good. */
export const hasProject = async (
  context: ApiContext,
  projectId: string | null | undefined,
): Promise<boolean> => {
  if (projectId == null) return true;
  const found = await context.deps.reads.readProjects(callerOf(context).tenantId, [
    toUuid('project', projectId),
  ]);
  return found.length > 0;
};
