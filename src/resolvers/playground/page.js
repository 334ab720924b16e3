/* Runs in the browser, beside the globals React, ReactDOM and GraphiQL of the prebuilt files. */
/* global React, ReactDOM, GraphiQL, document, location, localStorage, fetch */

const HEADERS_IN_JSON = /"headers":"(?:[^"\\]|\\.)*"/g;

/** GraphiQL keeps tabs and history in the browser, headers included: without them, since they hold the key. */
const storage = {
  getItem: (name) => localStorage.getItem(name),
  removeItem: (name) => localStorage.removeItem(name),
  clear: () => localStorage.clear(),
  get length() {
    return localStorage.length;
  },
  setItem: (name, value) => {
    if (name.endsWith(':headers')) return;
    localStorage.setItem(name, String(value).replace(HEADERS_IN_JSON, '"headers":null'));
  },
};

const keyField = document.getElementById('key');
document.getElementById('key-form').addEventListener('submit', (event) => event.preventDefault());

const keyHeader = () => {
  const key = keyField.value.trim();
  return key === '' ? {} : { Authorization: `Bearer ${key}` };
};

async function start() {
  const answer = await fetch('/playground/assets/examples.json');
  const examples = await answer.json();
  const send = GraphiQL.createFetcher({
    url: new URL('/graphql', location.href).href,
    subscriptionUrl: new URL('/graphql', location.href.replace(/^http/, 'ws')).href,
  });
  // The key goes with every request of every tab: as a header over HTTP, as connection_init over the socket.
  const fetcher = (request, options) =>
    send(request, { ...options, headers: { ...keyHeader(), ...options?.headers } });
  const root = ReactDOM.createRoot(document.getElementById('graphiql'));
  root.render(
    React.createElement(GraphiQL, {
      fetcher,
      storage,
      shouldPersistHeaders: false,
      defaultTabs: examples.map(({ query }) => ({ query })),
    }),
  );
}

start().catch((error) => {
  document.getElementById('graphiql').textContent = String(error);
});
