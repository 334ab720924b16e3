import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { Router, type Response } from 'express';

const ASSET_AGE_S = 3_600;

/** Files of packages, under the names that page.html asks for: nothing comes from another server. */
const ASSETS = {
  'react.js': [require.resolve('react/package.json'), 'umd/react.production.min.js'],
  'react-dom.js': [require.resolve('react-dom/package.json'), 'umd/react-dom.production.min.js'],
  'graphiql.js': [require.resolve('graphiql/package.json'), 'graphiql.min.js'],
  'graphiql.css': [require.resolve('graphiql/package.json'), 'graphiql.min.css'],
} as const satisfies Record<string, readonly [manifest: string, file: string]>;

/** GraphiQL and the landing page, served by the product itself. Needs no key: requests from it do. */
export const createPlaygroundRoutes = (): Router => {
  const router = Router();
  const examples = JSON.stringify(readExamples());
  router.get('/', (_request, response) => sendPage(response, 'landing.html'));
  router.get('/playground', (_request, response) => sendPage(response, 'page.html'));
  for (const file of ['page.js', 'pages.css', 'icon.svg']) {
    router.get(`/playground/assets/${file}`, (_request, response) => {
      response.sendFile(path.join(__dirname, file), { cacheControl: false });
    });
  }
  router.get('/playground/assets/examples.json', (_request, response) => {
    response.type('json').send(examples);
  });
  for (const [name, [manifest, file]] of Object.entries(ASSETS)) {
    const found = path.join(path.dirname(manifest), file);
    router.get(`/playground/assets/${name}`, (_request, response) => {
      response.sendFile(found, { maxAge: ASSET_AGE_S * 1_000 });
    });
  }
  return router;
};

/**
 * GraphiQL colours its editor with inline styles; scripts come from this server alone. Helmet's usual upgrade of insecure
 * requests is left out, since a first start is plain http.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self' ws: wss:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const sendPage = (response: Response, file: string): void => {
  response.set('Content-Security-Policy', PAGE_POLICY);
  response.set('Cache-Control', 'no-cache');
  response.sendFile(path.join(__dirname, file));
};

interface Example {
  readonly name: string;
  readonly query: string;
}

/** The example operations of the repository, in the order of their file names; none where they were not installed. */
const readExamples = (): Example[] => {
  const folder = findOperations();
  if (folder === null) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith('.graphql'))
    .sort()
    .map((file) => ({
      name: path.basename(file, '.graphql'),
      query: readFileSync(path.join(folder, file), 'utf8'),
    }));
};

/** From src/ and from dist/src/ alike. */
const findOperations = (): string | null => {
  for (let folder = __dirname; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const operations = path.join(folder, 'schema', 'operations');
    if (existsSync(operations)) return operations;
  }
  return null;
};
