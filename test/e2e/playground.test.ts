import { chromium, type Browser, type Page } from 'playwright-core';

import { useApi } from '../integration/api/support/running-api';
import { walk } from '../integration/api/support/walk-generation';
import { eventually } from '../support/eventually';
import { describeIfAvailable, locateProgram } from '../support/requirements';

/** The editors of GraphiQL, as its own script holds them. */
type Editors = { CodeMirror: { getValue(): string; setValue(text: string): void } }[];

describeIfAvailable('chromium', 'the playground in a browser', () => {
  const running = useApi();
  let browser: Browser;
  let page: Page;
  const foreign: string[] = [];

  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: locateProgram('chromium'),
      args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
    });
    page = await browser.newPage();
    page.on('request', (request) => {
      if (!request.url().startsWith(`${running().url}/`)) foreign.push(request.url());
    });
    page.on('pageerror', (error) => foreign.push(String(error)));
    await page.goto(`${running().url}/playground`);
    await page.waitForSelector('.graphiql-execute-button');
  }, 60_000);
  afterAll(() => browser?.close());

  const pasteKey = (token: string): Promise<void> => page.fill('#key', token);

  const textOf = (part: string): Promise<string> =>
    page.$$eval(`${part} .CodeMirror`, (editors) =>
      (editors as unknown as Editors).map(({ CodeMirror }) => CodeMirror.getValue()).join(''),
    );

  const untilResult = (text: string) =>
    eventually(
      `a result with ${text}`,
      async () => ((await textOf('.result-window')).includes(text) ? true : null),
      20_000,
    );

  it('answers the first example with the key from its field', async () => {
    await pasteKey(running().token);
    await page.click('.graphiql-execute-button');
    await untilResult('"displayName": "Sandbox Video 1"');
  });

  it('shows live changes in another tab with the same key', async () => {
    const id = await running().create();
    await page.locator('.graphiql-tab-button', { hasText: 'GenerationsUpdated' }).click();
    // The tab's editors are filled together, a moment after the click.
    await eventually('the tab', async () =>
      (await textOf('.graphiql-query-editor')).includes('generationsUpdated') ? true : null,
    );
    await page.click('.graphiql-execute-button');
    // GraphiQL learns what kind of operation a tab holds a moment after it shows it; asked before, it answers an error.
    await eventually(
      'a live result',
      async () => {
        const result = await textOf('.result-window');
        if (result.includes('QUEUED')) return true;
        if (result.includes('"errors"')) await page.click('.graphiql-execute-button');
        return null;
      },
      20_000,
    );
    await walk(running(), id, 'dispatch_claimed', 'DISPATCHING');
    await untilResult('DISPATCHING');
  });

  it('keeps the key nowhere, and asks no other server', async () => {
    const kept = await page.evaluate('JSON.stringify(localStorage)');
    expect(kept).toContain('GenerationsUpdated');
    expect(kept).not.toContain(running().token);
    expect(foreign).toEqual([]);
  });
});
