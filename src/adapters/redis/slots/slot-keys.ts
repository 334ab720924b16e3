export interface SlotKeys {
  readonly leases: string;
  readonly used: string;
  readonly limits: string;
  readonly token: string;
  readonly filled: string;
}

/** Under one hash tag: a cluster keeps all of them on one node, as a script needs it. */
export const slotKeysOf = (prefix: string): SlotKeys => {
  const key = (name: string): string => `{${prefix}:slots}:${name}`;
  return {
    leases: key('leases'),
    used: key('used'),
    limits: key('limits'),
    token: key('token'),
    filled: key('filled'),
  };
};
