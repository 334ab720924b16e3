/* Runs in the browser, beside the globals React, ReactDOM and GraphiQL of the prebuilt files. */
/* global React, ReactDOM, GraphiQL, document, location, fetch */

const KEY_HINT = '{\n  "Authorization": "Bearer PASTE_YOUR_API_KEY"\n}';

async function start() {
  const answer = await fetch('/playground/assets/examples.json');
  const examples = await answer.json();
  // The key of the headers tab goes with both: as a header over HTTP, as connection_init over the socket.
  const fetcher = GraphiQL.createFetcher({
    url: new URL('/graphql', location.href).href,
    subscriptionUrl: new URL('/graphql', location.href.replace(/^http/, 'ws')).href,
  });
  const root = ReactDOM.createRoot(document.getElementById('graphiql'));
  root.render(
    React.createElement(GraphiQL, {
      fetcher,
      defaultEditorToolsVisibility: 'headers',
      defaultHeaders: KEY_HINT,
      // Never kept in the browser: whoever uses it next would hold the key.
      shouldPersistHeaders: false,
      defaultTabs: examples.map(({ query }) => ({ query, headers: KEY_HINT })),
    }),
  );
}

start().catch((error) => {
  document.getElementById('graphiql').textContent = String(error);
});
