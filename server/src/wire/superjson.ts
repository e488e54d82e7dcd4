import superjson from 'superjson';
import { WireError } from './errors.ts';

/** Most values of a request that its meta may give a type to. */
const MAX_ANNOTATIONS = 10_000;
/** Map and Set nest no deeper than this in the annotations. */
const MAX_ANNOTATION_DEPTH = 8;

type Container = Record<string, unknown> | unknown[];
type LeafType = 'Date' | 'undefined' | 'bigint' | 'map' | 'set';

const refuse = (message: string): never => {
  throw new WireError('BAD_REQUEST', `The superjson meta cannot be used: ${message}`);
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const entriesOf = (value: unknown): [unknown, unknown][] =>
  Array.isArray(value) && value.every((item) => Array.isArray(item) && item.length === 2)
    ? value
    : refuse('a map must be a list of pairs');

const revivers: Record<LeafType, (value: unknown) => unknown> = {
  Date: (value) => (typeof value === 'string' ? new Date(value) : refuse('a Date must be an ISO text')),
  undefined: () => undefined,
  bigint: (value) =>
    typeof value === 'string' && /^-?\d{1,100}$/.test(value)
      ? BigInt(value)
      : refuse('a bigint must be digits'),
  map: (value) => new Map(entriesOf(value)),
  set: (value) => (Array.isArray(value) ? new Set(value) : refuse('a set must be a list')),
};

const isLeafType = (value: unknown): value is LeafType =>
  typeof value === 'string' && Object.hasOwn(revivers, value);

/** Splits a superjson path: dots separate, a backslash escapes a dot and, since version 1, a backslash. */
const segmentsOf = (path: string, version: number): string[] => {
  const segments = [''];
  for (let at = 0; at < path.length; at++) {
    const char = path.charAt(at);
    const next = path.charAt(at + 1);
    const last = segments.length - 1;
    if (char === '\\' && (next === '.' || (version >= 1 && next === '\\'))) {
      segments[last] += next;
      at++;
    } else if (char === '.') {
      segments.push('');
    } else {
      segments[last] += char;
    }
  }
  return segments;
};

const childOf = (parent: unknown, key: string): unknown => {
  if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, key)) {
    return refuse(`it names "${key.slice(0, 50)}", which is not in the JSON`);
  }
  return (parent as Record<string, unknown>)[key];
};

/**
 * Gives the values of a request the types that its superjson meta names. superjson's own way trusts the meta:
 * a few hundred bytes of it can ask for gigabytes. This one only ever replaces a value that the JSON already has
 * (defined as superjson defines it, for the types in use), and refuses everything else.
 */
class Reviver {
  #annotations = 0;
  readonly #version: number;

  constructor(version: number) {
    this.#version = version;
  }

  revive(value: unknown, tree: unknown, depth: number): unknown {
    if (depth > MAX_ANNOTATION_DEPTH) refuse('it nests too deeply');
    if (!Array.isArray(tree)) return this.#reviveChildren(value, tree, depth);
    const [type, children] = tree as unknown[];
    if (tree.length < 1 || tree.length > 2 || !isLeafType(type)) {
      return refuse('only Date, undefined, bigint, map and set are accepted');
    }
    if (++this.#annotations > MAX_ANNOTATIONS) refuse(`it has more than ${MAX_ANNOTATIONS} entries`);
    const inner = children === undefined ? value : this.#reviveChildren(value, children, depth + 1);
    return revivers[type](inner);
  }

  #reviveChildren(value: unknown, children: unknown, depth: number): unknown {
    if (!isObject(children)) return refuse('values must be an object of paths');
    for (const [path, subtree] of Object.entries(children)) {
      const segments = segmentsOf(path, this.#version);
      const last = segments.pop() ?? '';
      const parent = segments.reduce(childOf, value);
      const revived = this.revive(childOf(parent, last), subtree, depth + 1);
      (parent as Container as Record<string, unknown>)[last] = revived;
    }
    return value;
  }
}

/**
 * The value that a superjson envelope `{json, meta?}` stands for.
 * @throws WireError BAD_REQUEST when it is no such envelope or its meta asks for more than is accepted
 */
export const reviveInput = (envelope: unknown): unknown => {
  if (envelope === undefined || envelope === null) return undefined;
  if (!isObject(envelope)) throw new WireError('BAD_REQUEST', 'Send the input as {"json": …}');
  const { json, meta } = envelope;
  if (meta === undefined || meta === null) return json;
  if (!isObject(meta)) return refuse('it must be an object');
  const unknownKey = Object.keys(meta).find((key) => key !== 'values' && key !== 'v');
  if (unknownKey !== undefined) return refuse(`"${unknownKey.slice(0, 50)}" is not accepted`);
  if (meta.values === undefined) return json;
  return new Reviver(typeof meta.v === 'number' ? meta.v : 0).revive(json, meta.values, 0);
};

/**
 * A value as `{json, meta?}`. A value that occurs twice is simply written twice: superjson's note that both
 * were the same object would be a further key on the wire, and means nothing here.
 */
export const serializeOutput = (value: unknown): { json: unknown; meta?: unknown } => {
  const { json, meta } = superjson.serialize(value);
  if (!meta) return { json };
  const { referentialEqualities: _, ...rest } = meta;
  return rest.values === undefined ? { json } : { json, meta: rest };
};

/** How tRPC's own adapter, which serves its streaming links, reads and writes values: the same way. */
export const transformer = {
  input: { serialize: serializeOutput, deserialize: reviveInput },
  output: { serialize: serializeOutput, deserialize: superjson.deserialize },
};
