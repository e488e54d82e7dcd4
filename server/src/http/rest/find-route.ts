import { WireError } from '../../rpc/errors.ts';
import { type Route, routes } from './routes.ts';

/** The routes of one path, and the fields of the input that the path contains. */
export interface FoundPath {
  readonly routes: readonly Route[];
  readonly fields: Readonly<Record<string, string>>;
}

interface Template {
  readonly parts: readonly string[];
  readonly routes: Route[];
}

const templates = templatesOf(routes);

/**
 * Finds the routes of a path.
 * @returns null when there are none
 * @throws WireError BAD_REQUEST for a path that cannot be decoded
 */
export function findPath(path: string): FoundPath | null {
  const parts = partsOf(path.endsWith('/') ? path.slice(0, -1) : path);
  for (const template of templates) {
    const fields = match(template.parts, parts);
    if (fields) return { routes: template.routes, fields };
  }
  return null;
}

/** The value of the header Allow. */
export function allowedMethods(found: readonly Route[]): string {
  const methods = found.map(({ method }) => method);
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
}

/** The paths with their routes in order of precedence: paths with fewer names in braces come first. */
function templatesOf(all: readonly Route[]): Template[] {
  const byPath = new Map<string, Template>();
  for (const route of all) {
    const template = byPath.get(route.path) ?? { parts: partsOf(route.path), routes: [] };
    template.routes.push(route);
    byPath.set(route.path, template);
  }
  const names = ({ parts }: Template): number => parts.filter((part) => part.startsWith('{')).length;
  return [...byPath.values()].sort((one, other) => names(one) - names(other));
}

function partsOf(path: string): string[] {
  return path.split('/').slice(1);
}

function match(template: readonly string[], parts: readonly string[]): Record<string, string> | null {
  if (template.length !== parts.length) return null;
  const fields: Record<string, string> = {};
  for (const [at, wanted] of template.entries()) {
    const part = parts[at] ?? '';
    if (!wanted.startsWith('{')) {
      if (wanted !== part) return null;
    } else if (part === '') return null;
    else fields[wanted.slice(1, -1)] = decode(part);
  }
  return fields;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new WireError('BAD_REQUEST', 'The address is not well-formed');
  }
}
