import { startTestServer } from './test-server';
import type { TestServer } from './test-server';

declare global {
  /** Setup and teardown run in one process, but Jest loads each on its own. */
  var testServer: TestServer | undefined;
}

// Jest finds its setup by the default export.
export default async function startServerOfRun(): Promise<void> {
  globalThis.testServer = await startTestServer();
}
