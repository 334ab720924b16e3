import { useApi } from './support/running-api';

const running = useApi();

const read = async (path: string): Promise<{ status: number; headers: Headers; text: string }> => {
  const response = await fetch(`${running().url}${path}`);
  return { status: response.status, headers: response.headers, text: await response.text() };
};

describe('the playground', () => {
  it('is served whole by the product, from no other server', async () => {
    const page = await read('/playground');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toContain('text/html');
    const urls = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url ?? '');
    expect(urls.length).toBeGreaterThanOrEqual(6);
    for (const url of urls) {
      expect(url).toMatch(/^\/playground\/assets\//);
      const asset = await read(url);
      expect(asset.status).toBe(200);
      expect(asset.text.length).toBeGreaterThan(100);
      expect(asset.headers.get('x-content-type-options')).toBe('nosniff');
    }
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain('https:');
  });

  it('offers the whole path as examples', async () => {
    const { text } = await read('/playground/assets/examples.json');
    const examples = JSON.parse(text) as { name: string; query: string }[];
    const all = examples.map(({ query }) => query).join('\n');
    for (const root of [
      'assetUploadCreate',
      'assetUploadComplete',
      'generationCreate',
      'generationUpdated',
      'generations(',
      'generationCancel',
      'ledgerEntries',
    ]) {
      expect(all).toContain(root);
    }
  });
});

describe('the server', () => {
  it('greets with a page that leads to the playground', async () => {
    const page = await read('/');
    expect(page.status).toBe(200);
    expect(page.text).toContain('href="/playground"');
  });

  it('tells that it lives and that it is ready', async () => {
    expect(await read('/healthz')).toMatchObject({ status: 200, text: '{"status":"ok"}' });
    const ready = await read('/readyz');
    expect(ready.status).toBe(200);
    expect(JSON.parse(ready.text)).toEqual({
      status: 'ready',
      parts: [{ name: 'database', ok: true, weight: 'REQUIRED' }],
    });
  });

  it('says of any other path that there is nothing', async () => {
    const answer = await read('/nothing');
    expect(answer.status).toBe(404);
    expect(answer.headers.get('x-powered-by')).toBeNull();
  });
});
