/**
 * ESLint rules of this repository that no public package has. Each has a name of its own, so that
 * a folder can be exempted from one without touching the others, and each message carries the fix.
 */

/** A rule that reports `message` on every node that matches one of `selectors`. */
const forbid = (message, selectors) => ({
  meta: { type: 'problem', schema: [], messages: { forbidden: message } },
  create: (context) =>
    Object.fromEntries(
      selectors.map((selector) => [
        selector,
        (node) => context.report({ node, messageId: 'forbidden' }),
      ]),
    ),
});

const isPromiseExecutor = (node) =>
  node.parent?.type === 'NewExpression' &&
  node.parent.callee.type === 'Identifier' &&
  node.parent.callee.name === 'Promise';

const enclosingFunction = (node) => {
  let at = node.parent;
  while (at && !/Function/.test(at.type)) at = at.parent;
  return at;
};

/**
 * A sleep is `setTimeout(resolve, ms)` inside a promise executor, or `setTimeout(ms)` of
 * node:timers/promises. A timer that rejects or aborts is a bound, not a sleep, and is allowed.
 */
const noSleep = {
  meta: {
    type: 'problem',
    schema: [{ type: 'object', properties: { pollMsMax: { type: 'integer' } } }],
    messages: {
      sleep:
        'A test that sleeps is slow on a fast machine and red on a slow one. Wait for what you wait for: ' +
        'await an event, move the test clock, or poll a condition at most every {{pollMsMax}} ms.',
    },
  },
  create: (context) => {
    const pollMsMax = context.options[0]?.pollMsMax ?? 50;
    const promiseTimers = new Set();
    const isLong = (node) => node?.type === 'Literal' && Number(node.value) > pollMsMax;
    return {
      'ImportDeclaration[source.value=/^(node:)?timers\\/promises$/] > ImportSpecifier': (node) => {
        if (node.imported.name === 'setTimeout') promiseTimers.add(node.local.name);
      },
      CallExpression: (node) => {
        if (node.callee.type !== 'Identifier') return;
        const [first, second] = node.arguments;
        const promised = promiseTimers.has(node.callee.name) && isLong(first);
        const executor = enclosingFunction(node);
        const wrapped =
          node.callee.name === 'setTimeout' &&
          isLong(second) &&
          first.type === 'Identifier' &&
          executor !== undefined &&
          executor !== null &&
          isPromiseExecutor(executor) &&
          executor.params[0]?.name === first.name;
        if (promised || wrapped) {
          context.report({ node, messageId: 'sleep', data: { pollMsMax: String(pollMsMax) } });
        }
      },
    };
  },
};

export const houseRules = {
  meta: { name: 'house', version: '1.0.0' },
  rules: {
    'no-default-export': forbid(
      'A default export has as many names as importers. Export by name: `export const x = …`.',
      ['ExportDefaultDeclaration', "ExportSpecifier[exported.name='default']"],
    ),
    'no-enum': forbid(
      'Enums are for GraphQL only. Use `export const X = { … } as const` and a union of its values.',
      ['TSEnumDeclaration'],
    ),
    'no-process-env': forbid(
      'Only src/runtime/config.ts reads the environment. Take the value as an argument from the container.',
      [
        "MemberExpression[object.name='process'][property.name='env']",
        "MemberExpression[object.name='process'][property.value='env']",
        "VariableDeclarator[init.name='process'] > ObjectPattern > Property[key.name='env']",
        "ImportDeclaration[source.value=/^(node:)?process$/] > ImportSpecifier[imported.name='env']",
      ],
    ),
    'no-ambient-time': forbid(
      'Time comes from the Clock port (src/ports/clock.ts), so that tests can set it. Take `now: Date` or a Clock.',
      [
        "CallExpression[callee.object.name='Date'][callee.property.name='now']",
        "NewExpression[callee.name='Date'][arguments.length=0]",
        "CallExpression[callee.name='Date']",
      ],
    ),
    'no-ambient-randomness': forbid(
      'Ids and secrets come from the IdSource port (src/ports/ids.ts); jitter takes its random number as an argument.',
      [
        "CallExpression[callee.object.name='Math'][callee.property.name='random']",
        "CallExpression[callee.name='randomUUID']",
        "CallExpression[callee.property.name='randomUUID']",
        "CallExpression[callee.name='randomBytes']",
        "CallExpression[callee.property.name='randomBytes']",
      ],
    ),
    'no-focused-or-skipped-test': forbid(
      'A focused or skipped test hides others. Remove .only/.skip; a suite that needs a missing program is ' +
        'skipped through test/support alone, which says so loudly.',
      [
        'MemberExpression[object.name=/^(describe|it|test)$/][property.name=/^(only|skip|todo)$/]',
        'CallExpression[callee.name=/^(fdescribe|fit|xdescribe|xit|xtest)$/]',
      ],
    ),
    'no-sleep': noSleep,
  },
};
