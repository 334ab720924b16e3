import { lateralStatements } from '../../../src/adapters/postgres/joined-statements';
import { loadStatements, parseStatement } from '../../../src/adapters/postgres/statements';
import { useTestDatabase } from '../../support/database';

describe('a statement', () => {
  it('numbers its parameters by name, in the order of their first use', () => {
    const { text, parameters } = parseStatement('x', 'SELECT :b, :a, :b WHERE c = :camelCase9');
    expect(text).toBe('SELECT $1, $2, $1 WHERE c = $3');
    expect(parameters).toEqual(['b', 'a', 'camelCase9']);
  });

  it('keeps casts, quoted text, quoted names and dollar quotes as they are', () => {
    const source = `SELECT :a::text, ':b', 'it''s :c', ":d", $$ :e $$, $t$ :f $t$, '{"g": 1}'::jsonb`;
    const { text, parameters } = parseStatement('x', source);
    expect(text).toBe(source.replace(':a', '$1'));
    expect(parameters).toEqual(['a']);
  });

  it('drops comments and a last semicolon', () => {
    const { text, parameters } = parseStatement('x', '-- of :a\nSELECT 1 /* :b */;\n');
    expect(text).toBe('SELECT 1');
    expect(parameters).toEqual([]);
  });
});

describe('the statements of the product', () => {
  const database = useTestDatabase();

  it('are all understood by the database', async () => {
    const refusals: string[] = [];
    for (const { name, text } of [...loadStatements().values(), ...lateralStatements()]) {
      // PREPARE takes no LOCK TABLE.
      if (text.startsWith('LOCK')) continue;
      await database()
        .pool.query(`PREPARE "${name}" AS ${text}`)
        .catch((error: unknown) => refusals.push(`${name}: ${String(error)}`));
    }
    expect(refusals).toEqual([]);
  });
});
