/**
 * For programs that run from source (`node -r @swc-node/register -r ./scripts/typescript-names.cjs`): generated code imports its
 * siblings by the names they have once compiled, so a `./x.js` that is not there is the `./x.ts` beside it.
 */
'use strict';

const Module = require('node:module');

const resolve = Module._resolveFilename;

Module._resolveFilename = function resolveCompiledName(request, ...rest) {
  try {
    return resolve.call(this, request, ...rest);
  } catch (error) {
    if (!/^\.{1,2}\/.*\.js$/.test(request)) throw error;
    return resolve.call(this, request.replace(/\.js$/, '.ts'), ...rest);
  }
};
