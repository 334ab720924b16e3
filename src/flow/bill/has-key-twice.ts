/** Tokens that matter for keys: strings, and what opens, closes or parts. Numbers and words lie between. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/**
 * Whether an object of well-formed JSON, or one inside it, names a key twice, however it is spelled: `JSON.parse` would take the
 * last value without a word, and of two amounts nobody could say which counts.
 */
export const hasKeyTwice = (json: string): boolean => {
  const open: (Set<string> | null)[] = [];
  let text: string | null = null;
  for (const [token] of json.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(null);
    else if (token === '}' || token === ']') open.pop();
    else if (token !== ':') text = token;
    else if (text !== null) {
      const keys = open.at(-1);
      const key = JSON.parse(text) as string;
      if (keys?.has(key) === true) return true;
      keys?.add(key);
    }
  }
  return false;
};
