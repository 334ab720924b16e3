import { afterRestore, type AfterRestore } from '../flow/operate/after-restore';
import type { OperatorOrder } from '../flow/operate/operator-action';
import type { Log } from '../ports/log';
import type { Config } from './config';
import { createContainer } from './container';

/** As `npm run cli -- restored` asks for it, with the configuration of the processes. */
export const tellRestored = async (
  config: Config,
  log: Log,
  wanted: { readonly since: Date; readonly cancel: boolean; readonly order: OperatorOrder },
): Promise<AfterRestore | { readonly refused: string }> => {
  const container = createContainer(config, 'restored', log);
  try {
    return await afterRestore(
      container.context,
      {
        gatewayOrNull: container.gatewayOrNull,
        accountOf: container.provider.accountOf,
        requestKeyOf: container.schedule.requestKeyOf,
      },
      wanted,
    );
  } finally {
    await container.close();
  }
};
