import { gather, gatherById } from '../../../src/adapters/postgres/gather';

describe('gather', () => {
  it('asks once for all who ask in one turn, and gives each its own answer', async () => {
    const calls: (readonly number[])[] = [];
    const double = gather<number, number>((numbers) => {
      calls.push(numbers);
      return Promise.resolve(numbers.map((each) => each * 2));
    });
    expect(await Promise.all([double(1), double(2), double(1)])).toEqual([2, 4, 2]);
    expect(await double(5)).toBe(10);
    expect(calls).toEqual([[1, 2, 1], [5]]);
  });

  it('fails for all of a batch together, and not for the next one', async () => {
    let fails = true;
    const ask = gather<number, number>((numbers) =>
      fails ? Promise.reject(new Error('out of reach')) : Promise.resolve(numbers),
    );
    const batch = await Promise.allSettled([ask(1), ask(2)]);
    expect(batch.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    expect(await ask(3)).toBe(3);
  });

  it('refuses an answer that does not fit the questions', async () => {
    const ask = gather<number, number>(() => Promise.resolve([1]));
    const batch = await Promise.allSettled([ask(1), ask(2)]);
    expect(batch.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});

describe('gatherById', () => {
  it('reads each id once, in any order, and answers null for what is missing', async () => {
    const asked: (readonly string[])[] = [];
    const read = gatherById((ids) => {
      asked.push(ids);
      return Promise.resolve([{ id: 'b' }, { id: 'a' }]);
    });
    expect(await Promise.all([read('a'), read('b'), read('a'), read('c')])).toEqual([
      { id: 'a' },
      { id: 'b' },
      { id: 'a' },
      null,
    ]);
    expect(asked).toEqual([['a', 'b', 'c']]);
  });
});
