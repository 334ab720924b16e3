import { z } from 'zod';

import { parseRedisUrl } from '../adapters/redis/redis-url';

/** What says which engines stand behind the ports; a part of the schema in config.ts. */
export const backEndShape = {
  /** Empty: no Redis. redis://, rediss://, redis+sentinel://host:port,host:port/master or redis+cluster://host:port,… */
  AIVEDIO_REDIS_URL: z
    .string()
    .superRefine((value, context) => {
      try {
        parseRedisUrl(value);
      } catch (error) {
        context.addIssue({ code: 'custom', message: (error as Error).message });
      }
    })
    .optional(),
  /** Before every key and channel: several installations may share a Redis. */
  AIVEDIO_REDIS_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,50}$/, 'letters, digits, dots, dashes; at most 50')
    .default('aivedio'),
  /** By default `redis` where there is a Redis. */
  AIVEDIO_SLOTS: z.enum(['postgres', 'redis']).optional(),
  AIVEDIO_PUB_SUB: z.enum(['postgres', 'redis']).optional(),
};

type Parsed = z.infer<z.ZodObject<typeof backEndShape>>;

export interface BackEnds {
  readonly redis: { readonly url: string; readonly prefix: string } | null;
  readonly slots: 'postgres' | 'redis';
  readonly pubSub: 'postgres' | 'redis';
}

export const backEndProblems = (values: Parsed): string[] =>
  (['AIVEDIO_SLOTS', 'AIVEDIO_PUB_SUB'] as const)
    .filter((name) => values[name] === 'redis' && values.AIVEDIO_REDIS_URL === undefined)
    .map((name) => `${name}: redis needs AIVEDIO_REDIS_URL (redis://host:6379)`);

export const shapeBackEnds = (values: Parsed): BackEnds => {
  const standard = values.AIVEDIO_REDIS_URL === undefined ? 'postgres' : 'redis';
  return {
    redis:
      values.AIVEDIO_REDIS_URL === undefined
        ? null
        : { url: values.AIVEDIO_REDIS_URL, prefix: values.AIVEDIO_REDIS_PREFIX },
    slots: values.AIVEDIO_SLOTS ?? standard,
    pubSub: values.AIVEDIO_PUB_SUB ?? standard,
  };
};
