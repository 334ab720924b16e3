import './global-setup';

// Jest finds its teardown by the default export.
export default async function stopServerOfRun(): Promise<void> {
  await globalThis.testServer?.stop();
}
