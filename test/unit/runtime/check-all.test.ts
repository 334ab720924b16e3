import { checkAll } from '../../../src/runtime/check-all';
import { ConfigError } from '../../../src/runtime/config';

const fails = (error: Error) => () => Promise.reject(error);
const passes = () => Promise.resolve();

test('tells the problems of all checks at once', async () => {
  const failed = await checkAll([
    fails(new ConfigError(['A: wrong'])),
    passes,
    fails(new ConfigError(['B: wrong', 'C: wrong'])),
    fails(new Error('something else')),
  ]).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(ConfigError);
  expect((failed as ConfigError).problems).toEqual(['A: wrong', 'B: wrong', 'C: wrong']);
});

test('throws what is no problem of the configuration as it is', async () => {
  await expect(checkAll([passes, fails(new Error('broken'))])).rejects.toThrow('broken');
  await expect(checkAll([passes, passes])).resolves.toBeUndefined();
});
