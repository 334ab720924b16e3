import { createIdSource, createSeededIdSource } from '../../../src/adapters/ids/uuid-ids';

const AT = new Date('2026-12-01T10:00:00.000Z');
const timeOf = (id: string): number => parseInt(id.replaceAll('-', '').slice(0, 12), 16);

describe.each([
  ['random', () => createIdSource()],
  ['seeded', () => createSeededIdSource('seed')],
] as const)('%s ids', (_name, make) => {
  it('are UUIDv7 of the given instant, unique and rising', () => {
    const ids = make();
    const made = Array.from({ length: 2_000 }, () => ids.next(AT));
    expect(made[0]).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(timeOf(made[0] ?? '')).toBe(AT.getTime());
    expect(new Set(made).size).toBe(made.length);
    expect([...made].sort()).toEqual(made);
  });

  it('keep their order when the clock steps back a little', () => {
    const ids = make();
    const first = ids.next(AT);
    expect(ids.next(new Date(AT.getTime() - 3_000)) > first).toBe(true);
  });

  it('make secrets of the asked length', () => {
    expect(Buffer.from(make().secret(32), 'base64url')).toHaveLength(32);
  });
});

it('equal seeds give equal ids and other seeds others', () => {
  const run = (seed: string): string[] => {
    const ids = createSeededIdSource(seed);
    return [ids.next(AT), ids.next(AT), ids.secret(16)];
  };
  expect(run('a')).toEqual(run('a'));
  expect(run('a')).not.toEqual(run('b'));
});
