/** Makes a forgotten case a compile error, and at run time a loud one. */
export const assertNever = (value: never, what: string): never => {
  throw new Error(`Unhandled ${what}: ${JSON.stringify(value)}`);
};
