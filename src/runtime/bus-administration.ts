import { createAdministration } from '../adapters/rocketmq/administer';
import type { Config } from './config';

/** What `npm run cli -- bus` asks of the cluster. Throws one line that names the variable that is missing. */
export const openBusAdministration = (config: Config) => {
  const { namesrv, mqadmin, prefix } = config.rocketmq;
  if (namesrv === null) {
    throw new Error(
      'AIVEDIO_ROCKETMQ_NAMESRV: set it to host:port of the name server, which administration asks',
    );
  }
  const administration = createAdministration({ mqadmin, namesrv });
  return {
    check: () => administration.check([prefix]),
    create: () => administration.create([prefix]),
    progress: () => administration.progress(prefix),
  };
};
