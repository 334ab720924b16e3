import { isIP } from 'node:net';
import type { FetchRefusal } from '../../ports/output-source';
import { isLocalAddress, isPublicAddress } from './judge-address';

/** Answers every address of a name; rejects when there is none. */
export type Resolver = (hostname: string) => Promise<readonly string[]>;

export interface TargetRules {
  readonly allowedHosts: readonly string[] | 'any';
  /** Exact `host:port` pairs that may be plain http, on this machine or its private network. */
  readonly insecureLocalHosts: readonly string[];
  readonly resolve: Resolver;
}

/** A URL together with the one address that may be connected to for it. */
export interface Target {
  readonly url: URL;
  readonly address: string;
}

export type TargetJudgement =
  | { readonly kind: 'ALLOWED'; readonly target: Target }
  | { readonly kind: 'REFUSED'; readonly reason: FetchRefusal; readonly detail: string }
  | { readonly kind: 'UNRESOLVED'; readonly detail: string };

/** Judges a URL by itself, then by all addresses of its host, before anything is sent there. */
export async function judgeTarget(
  text: string,
  base: URL | undefined,
  rules: TargetRules,
): Promise<TargetJudgement> {
  if (!URL.canParse(text, base?.href)) return refused('URL_INVALID', 'not a URL');
  // The parser turns every spelling of an IPv4 address (2130706433, 0x7f.1, 127.1) into the plain one.
  const url = new URL(text, base?.href);
  const hostAndPort = `${url.hostname}:${portOf(url)}`;
  const insecure = rules.insecureLocalHosts.includes(hostAndPort);
  const refusal = judgeUrl(url, hostAndPort, insecure, rules.allowedHosts);
  if (refusal) return refusal;

  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(hostname) ? [hostname] : await resolveOrNull(rules.resolve, hostname);
  if (addresses === null) return { kind: 'UNRESOLVED', detail: `no address for ${hostname}` };
  // One bad address condemns the name: which of them a later lookup would pick is anyone's guess.
  const isAllowed = insecure ? isLocalAddress : isPublicAddress;
  const bad = addresses.find((address) => !isAllowed(address));
  if (bad !== undefined) return refused('ADDRESS_NOT_ALLOWED', `${hostname} is at ${bad}`);
  const address = addresses[0];
  if (address === undefined) return { kind: 'UNRESOLVED', detail: `no address for ${hostname}` };
  return { kind: 'ALLOWED', target: { url, address } };
}

type Refusal = Extract<TargetJudgement, { kind: 'REFUSED' }>;

function judgeUrl(
  url: URL,
  hostAndPort: string,
  insecure: boolean,
  allowedHosts: TargetRules['allowedHosts'],
): Refusal | null {
  if (url.protocol !== 'https:' && !(insecure && url.protocol === 'http:')) {
    return refused('SCHEME_NOT_ALLOWED', `scheme ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    return refused('CREDENTIALS_IN_URL', `credentials in a URL of ${url.hostname}`);
  }
  const usualPort = insecure || url.port === '';
  const allowed =
    allowedHosts === 'any' ||
    allowedHosts.some(
      (entry) =>
        matchesHost(entry.toLowerCase(), hostAndPort) ||
        (usualPort && matchesHost(entry.toLowerCase(), url.hostname)),
    );
  return allowed ? null : refused('HOST_NOT_ALLOWED', `host ${hostAndPort}`);
}

/** `*.example.com` stands for what is below it, and not for `example.com` or `badexample.com`. */
function matchesHost(entry: string, host: string): boolean {
  return entry.startsWith('*.') ? host.endsWith(entry.slice(1)) : host === entry;
}

function portOf(url: URL): string {
  if (url.port !== '') return url.port;
  return url.protocol === 'http:' ? '80' : '443';
}

/** A name that cannot be looked up now may be so later: no refusal, and no cause to fail. */
async function resolveOrNull(
  resolve: Resolver,
  hostname: string,
): Promise<readonly string[] | null> {
  return resolve(hostname).catch(() => null);
}

function refused(reason: FetchRefusal, detail: string): Refusal {
  return { kind: 'REFUSED', reason, detail };
}
