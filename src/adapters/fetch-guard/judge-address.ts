import ipaddr from 'ipaddr.js';

/** Public by number, yet answered by the platform of the host itself. */
const PLATFORM_ADDRESSES = new Set(['168.63.129.16']);
/** All that IANA has given out as global unicast; the rest of IPv6 is special or unassigned. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/**
 * True for an address on the public internet. Forms that carry an IPv4 address inside (mapped,
 * NAT64, 6to4, Teredo) are not public, whatever is inside: no honest server needs them.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv6
    ? parsed.match(GLOBAL_UNICAST)
    : !PLATFORM_ADDRESSES.has(parsed.toString());
}

const LOCAL_RANGES = new Set(['loopback', 'private', 'uniqueLocal']);

/** This machine, or its own private network; never link-local, where cloud metadata is served. */
export function isLocalAddress(address: string): boolean {
  return ipaddr.isValid(address) && LOCAL_RANGES.has(ipaddr.parse(address).range());
}
