import { createLookBounds } from '../../../src/adapters/postgres/bus/look-bounds';

const T0 = Date.parse('2026-12-01T08:00:00.000Z');
const at = (ms: number): Date => new Date(T0 + ms);
const BEGINNING = new Date(0);

/** A look at `ms` that took everything due until then, or until `until`. */
const look = (looks: ReturnType<typeof createLookBounds>, ms: number, until = ms): Date => {
  const begun = looks.begin('queue', at(ms));
  begun.seen(at(until));
  return begun.from;
};

describe('a look at a queue', () => {
  it('begins at the beginning, and then two seconds before what was seen', () => {
    const looks = createLookBounds();
    expect(look(looks, 0)).toEqual(BEGINNING);
    expect(look(looks, 1_000)).toEqual(at(-2_000));
    expect(look(looks, 3_000)).toEqual(at(-1_000));
  });

  it('begins at the beginning every five seconds', () => {
    const looks = createLookBounds();
    look(looks, 0);
    expect(look(looks, 4_999)).toEqual(at(-2_000));
    expect(look(looks, 5_000)).toEqual(BEGINNING);
    expect(look(looks, 9_999)).toEqual(at(3_000));
    expect(look(looks, 10_000)).toEqual(BEGINNING);
  });

  it('begins where a full batch ended', () => {
    const looks = createLookBounds();
    look(looks, 0, -60_000);
    expect(look(looks, 100)).toEqual(at(-62_000));
  });

  it('is as if it had not been when it fails', () => {
    const looks = createLookBounds();
    looks.begin('queue', at(0));
    expect(look(looks, 1)).toEqual(BEGINNING);
    looks.begin('queue', at(1_000));
    expect(look(looks, 1_001)).toEqual(at(-1_999));
  });

  it('begins early enough for what somebody else found', () => {
    const looks = createLookBounds();
    look(looks, 0);
    looks.lower('queue', at(-30_000));
    expect(looks.since('queue')).toEqual(at(-32_000));
    const begun = looks.begin('queue', at(1_000));
    expect(begun.from).toEqual(at(-32_000));
    looks.lower('queue', at(-10_000));
    begun.seen(at(1_000));
    // Found after the look began: it may not have seen it.
    expect(look(looks, 2_000)).toEqual(at(-32_000));
    expect(look(looks, 3_000)).toEqual(at(0));
  });

  it('follows a clock that is set back', () => {
    const looks = createLookBounds();
    look(looks, 3_600_000);
    expect(look(looks, 0)).toEqual(BEGINNING);
    expect(look(looks, 1_000)).toEqual(at(-2_000));
    look(looks, 4_000);
    expect(look(looks, 2_000)).toEqual(at(0));
  });

  it('knows each queue by itself', () => {
    const looks = createLookBounds();
    look(looks, 0);
    expect(looks.begin('other', at(1)).from).toEqual(BEGINNING);
  });
});
