import fc from 'fast-check';

import { ID_PREFIXES, parsePublicId, toPublicId, toUuid } from '../../../src/resolvers/public-id';

const NOWHERE = '00000000-0000-0000-0000-000000000000';

describe('a public id', () => {
  it('is the TypeID of the UUID', () => {
    // The example of the TypeID specification.
    expect(toPublicId('generation', '01890a5d-ac96-774b-bcce-b302099a8057')).toBe(
      'gen_01h455vb4pex5vsknk084sn02q',
    );
  });

  it('gives the UUID back, of every kind, in the same order', () => {
    const kinds = Object.keys(ID_PREFIXES) as (keyof typeof ID_PREFIXES)[];
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), fc.constantFrom(...kinds), (a, b, kind) => {
        expect(toUuid(kind, toPublicId(kind, a))).toBe(a);
        expect(toPublicId(kind, a) < toPublicId(kind, b)).toBe(a < b);
      }),
    );
  });

  it.each([
    '',
    'gen_',
    '01h455vb4pex5vsknk084sn02q',
    'ast_01h455vb4pex5vsknk084sn02q',
    'gen_81h455vb4pex5vsknk084sn02q',
    'gen_01h455vb4pex5vsknk084sn02',
    'gen_01h455vb4pex5vsknk084sn02qq',
    'gen_01H455VB4PEX5VSKNK084SN02Q',
    'gen_01h455vb4pex5vsknk084sn02u',
    'gen_01h455vb4pex5vsknk084sn02q\n',
    'GEN_01h455vb4pex5vsknk084sn02q',
    '__proto___01h455vb4pex5vsknk084sn02q',
    '01890a5d-ac96-774b-bcce-b302099a8057',
  ])('that is %j names nothing', (text) => {
    expect(toUuid('generation', text)).toBe(NOWHERE);
  });

  it('says its kind', () => {
    expect(parsePublicId('ast_01h455vb4pex5vsknk084sn02q')?.kind).toBe('asset');
    expect(parsePublicId('xyz_01h455vb4pex5vsknk084sn02q')).toBeNull();
  });
});
