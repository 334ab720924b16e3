import { z } from 'zod';

const ADDRESSES = /^[A-Za-z0-9.[\]:-]+:\d{1,5}([;,][A-Za-z0-9.[\]:-]+:\d{1,5})*$/;
const addresses = z
  .string()
  .regex(ADDRESSES, 'host:port, several separated by semicolons')
  .transform((value) => value.replaceAll(',', ';'));

/** What says whether RocketMQ carries messages, and where it is; a part of the schema in config.ts. */
export const rocketmqShape = {
  AIVEDIO_BUS: z.enum(['postgres', 'rocketmq']).default('postgres'),
  /** The gRPC servers of the proxies. */
  AIVEDIO_ROCKETMQ_ENDPOINTS: addresses.optional(),
  /** The name servers: for `npm run cli -- bus` alone. */
  AIVEDIO_ROCKETMQ_NAMESRV: addresses.optional(),
  /** The program mqadmin of a RocketMQ distribution: for `npm run cli -- bus` alone. */
  AIVEDIO_ROCKETMQ_MQADMIN: z.string().default('mqadmin'),
  /** Before every topic and group: several installations may share a cluster. */
  AIVEDIO_ROCKETMQ_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,50}$/, 'letters, digits, dashes; at most 50')
    .default('aivedio'),
  AIVEDIO_ROCKETMQ_ACCESS_KEY: z.string().optional(),
  AIVEDIO_ROCKETMQ_SECRET_KEY: z.string().optional(),
};

type Parsed = z.infer<z.ZodObject<typeof rocketmqShape>>;

export interface RocketmqSettings {
  readonly bus: 'postgres' | 'rocketmq';
  readonly rocketmq: {
    readonly endpoints: string | null;
    readonly namesrv: string | null;
    readonly mqadmin: string;
    readonly prefix: string;
    readonly credentials: { readonly accessKey: string; readonly accessSecret: string } | null;
  };
}

export const rocketmqProblems = (values: Parsed): string[] => [
  ...(values.AIVEDIO_BUS === 'rocketmq' && values.AIVEDIO_ROCKETMQ_ENDPOINTS === undefined
    ? ['AIVEDIO_ROCKETMQ_ENDPOINTS: AIVEDIO_BUS=rocketmq needs the proxies (host:port of gRPC)']
    : []),
  ...((values.AIVEDIO_ROCKETMQ_ACCESS_KEY === undefined) ===
  (values.AIVEDIO_ROCKETMQ_SECRET_KEY === undefined)
    ? []
    : [
        'AIVEDIO_ROCKETMQ_SECRET_KEY: set it together with AIVEDIO_ROCKETMQ_ACCESS_KEY, or neither',
      ]),
];

export const shapeRocketmq = (values: Parsed): RocketmqSettings => {
  const accessKey = values.AIVEDIO_ROCKETMQ_ACCESS_KEY;
  const accessSecret = values.AIVEDIO_ROCKETMQ_SECRET_KEY;
  return {
    bus: values.AIVEDIO_BUS,
    rocketmq: {
      endpoints: values.AIVEDIO_ROCKETMQ_ENDPOINTS ?? null,
      namesrv: values.AIVEDIO_ROCKETMQ_NAMESRV ?? null,
      mqadmin: values.AIVEDIO_ROCKETMQ_MQADMIN,
      prefix: values.AIVEDIO_ROCKETMQ_PREFIX,
      credentials:
        accessKey === undefined || accessSecret === undefined ? null : { accessKey, accessSecret },
    },
  };
};
