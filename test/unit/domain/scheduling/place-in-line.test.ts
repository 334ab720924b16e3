import { admissionScopesOf } from '../../../../src/domain/scheduling/admission';
import {
  placeInLine,
  type InLine,
  type LineFacts,
} from '../../../../src/domain/scheduling/place-in-line';

const scopes = (accountMax: number, tenantId: string, tenantMax: number) =>
  admissionScopesOf({
    platformMax: 720,
    providerId: 'p',
    account: { id: 'a', limitMax: accountMax },
    tenant: { id: tenantId, limitMax: tenantMax },
  });

const inLine = (taskId: string, tenantId: string, tenantMax: number, model = 'm'): InLine => ({
  taskId,
  tenantId,
  tenantMax,
  model,
});

const facts = (changes: Partial<LineFacts>): LineFacts => ({
  line: [],
  scopes: scopes(10, 't', 5),
  inUse: {},
  competes: (model) => model === 'm',
  meanHeldMs: 60_000,
  ...changes,
});

describe('a place in line', () => {
  it('is told as in “tenant limit 5 of 5, third in line, about 40 s”', () => {
    const line = [inLine('1', 't', 5), inLine('2', 't', 5), inLine('3', 't', 5)];
    const inUse = { 'tenant:t': 5, 'account:a': 5, platform: 5 };
    expect(placeInLine('3', facts({ line, inUse, meanHeldMs: 66_667 }))).toEqual({
      position: 3,
      limit: { name: 'TENANT', used: 5, max: 5, position: 3 },
      estimateMs: 40_000,
    });
  });

  it('is nobody’s business while places are free', () => {
    const line = [inLine('1', 't', 5), inLine('2', 't', 5)];
    expect(placeInLine('2', facts({ line, inUse: { 'tenant:t': 3 } }))).toEqual({
      position: 2,
      limit: null,
      estimateMs: 0,
    });
  });

  it('counts those ahead only as far as their own tenant has room', () => {
    const line = [
      inLine('x1', 'x', 2),
      inLine('x2', 'x', 2),
      inLine('x3', 'x', 2),
      inLine('mine', 't', 5),
    ];
    const inUse = { 'account:a': 10, 'tenant:x': 1 };
    expect(placeInLine('mine', facts({ line, inUse }))).toMatchObject({
      position: 4,
      limit: { name: 'ACCOUNT', position: 2 },
      estimateMs: 12_000,
    });
  });

  it('does not count those who go to another provider, but at the platform', () => {
    const line = [inLine('other', 'x', 9, 'elsewhere'), inLine('mine', 't', 5)];
    const full = { 'account:a': 10 };
    expect(placeInLine('mine', facts({ line, inUse: full })).limit?.position).toBe(1);
    const platform = placeInLine('mine', facts({ line, inUse: { platform: 720 } }));
    expect(platform.limit).toMatchObject({ name: 'PLATFORM', position: 2 });
  });

  it('has no estimate while nobody knows how long a job takes, or where nothing is allowed', () => {
    const line = [inLine('mine', 't', 0)];
    const inUse = { 'account:a': 10 };
    expect(placeInLine('mine', facts({ line, inUse, meanHeldMs: null })).estimateMs).toBeNull();
    expect(placeInLine('mine', facts({ line, scopes: scopes(10, 't', 0) }))).toMatchObject({
      limit: { name: 'TENANT', max: 0 },
      estimateMs: null,
    });
  });

  it('is none for what is not in the line', () => {
    expect(placeInLine('gone', facts({}))).toEqual({
      position: null,
      limit: null,
      estimateMs: null,
    });
  });
});
