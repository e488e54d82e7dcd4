import type { DeviceFormat } from '@gantry/contract/connections';
import { deviceFormats } from '@gantry/contract/values';
import { formats as allFormats } from '@gantry/device-formats';
import { isToken } from './secrets.ts';

/** The target in the request line of a device. */
export interface GatewayTarget {
  /** The formats that the address admits: one, or those with the fixed path. */
  readonly formats: readonly DeviceFormat[];
  /** The token in the path or query; null without one. */
  readonly token: string | null;
  /** The path below the address of the connection; empty if none. */
  readonly path: string;
  /** The query without the token, as it was sent, without the question mark. */
  readonly query: string;
}

const PREFIX = '/gateway/';

/** The names under which the query may contain the token. */
const TOKEN_NAMES = ['token', 'key'];

/**
 * The target of a request of a device; null when the address is not for devices.
 * @param url as in the request line, which may be in absolute form
 */
export function gatewayTarget(url: string): GatewayTarget | null {
  const { path, query } = splitTarget(url);
  if (path.startsWith(PREFIX) || path === '/gateway') return underPrefix(path.slice(PREFIX.length), query);
  const formats = formatsAt(path);
  if (formats.length === 0) return null;
  const { token, rest } = tokenOf(query);
  return { formats, token, path, query: rest };
}

/** The path and the query of a request target in origin form or absolute form. */
export function splitTarget(url: string): { readonly path: string; readonly query: string } {
  const origin = url.replace(/^https?:\/\/[^/?#]*/i, '');
  const hash = origin.indexOf('#');
  const whole = hash === -1 ? origin : origin.slice(0, hash);
  const mark = whole.indexOf('?');
  const path = mark === -1 ? whole : whole.slice(0, mark);
  return {
    // Some devices put another slash before the path that was configured.
    path: path.replace(/^\/*/, '/'),
    query: mark === -1 ? '' : whole.slice(mark + 1),
  };
}

function underPrefix(below: string, query: string): GatewayTarget {
  const [name = '', first = '', ...others] = below.split('/');
  const formats = deviceFormats.filter((format) => format === name.toLowerCase());
  const fromQuery = tokenOf(query);
  if (isToken(first)) return { formats, token: first, path: joined(others), query: fromQuery.rest };
  const segments = first === '' && others.length === 0 ? [] : [first, ...others];
  return { formats, token: fromQuery.token, path: joined(segments), query: fromQuery.rest };
}

function joined(segments: readonly string[]): string {
  const path = segments.map((segment) => `/${segment}`).join('');
  return path === '/' ? '' : path;
}

function tokenOf(query: string): { readonly token: string | null; readonly rest: string } {
  if (query === '') return { token: null, rest: '' };
  let token: string | null = null;
  const rest = query.split('&').filter((pair) => {
    const [name = '', value = ''] = pair.split('=');
    if (!TOKEN_NAMES.includes(name.toLowerCase())) return true;
    // Other fields may have such a name, so only what has the form of a token is taken.
    if (!isToken(value)) return true;
    token = value;
    return false;
  });
  return { token, rest: rest.join('&') };
}

function formatsAt(path: string): DeviceFormat[] {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  const wanted = path.slice(0, end).toLowerCase();
  return allFormats
    .filter(({ fixedPaths = [] }) => fixedPaths.some((each) => each.toLowerCase() === wanted))
    .map(({ name }) => name);
}
