import { hash } from 'node:crypto';

// A tree of hashes as in RFC 6962, section 2.1: its root proves each leaf with as many hashes as the tree is high.

/** Length of a hash (SHA-256), in bytes. */
export const HASH_BYTES = 32;

const LEAF = Buffer.of(0);
const NODE = Buffer.of(1);

function sha256(...parts: readonly Buffer[]): Buffer {
  return hash('sha256', Buffer.concat(parts), 'buffer');
}

/** The hash of a leaf with this text. */
export function leafOf(text: string): Buffer {
  return sha256(LEAF, Buffer.from(text));
}

/** The largest power of two that is less than `count`, where the tree is divided. */
function halfOf(count: number): number {
  return 2 ** (31 - Math.clz32(count - 1));
}

/** The root of a tree with these leaves. @throws RangeError if there are none */
export function rootOf(leaves: readonly Buffer[]): Buffer {
  const [first] = leaves;
  if (first === undefined) throw new RangeError('A tree has at least one leaf');
  if (leaves.length === 1) return first;
  const half = halfOf(leaves.length);
  return sha256(NODE, rootOf(leaves.slice(0, half)), rootOf(leaves.slice(half)));
}

/** The hashes that lead from a leaf to the root, the nearest to the leaf first (an audit path). */
export function pathOf(leaves: readonly Buffer[], index: number): Buffer[] {
  if (leaves.length <= 1) return [];
  const half = halfOf(leaves.length);
  const [left, right] = [leaves.slice(0, half), leaves.slice(half)];
  return index < half
    ? [...pathOf(left, index), rootOf(right)]
    : [...pathOf(right, index - half), rootOf(left)];
}

/** The root to which a path leads from a leaf; null if the path has another length than that of a tree with `count` leaves. */
export function rootAlong(
  leaf: Buffer,
  index: number,
  count: number,
  path: readonly Buffer[],
): Buffer | null {
  if (count === 1) return index === 0 && path.length === 0 ? leaf : null;
  const sibling = path.at(-1);
  if (sibling === undefined || index < 0 || index >= count) return null;
  const half = halfOf(count);
  const rest = path.slice(0, -1);
  const isLeft = index < half;
  const own = isLeft ? rootAlong(leaf, index, half, rest) : rootAlong(leaf, index - half, count - half, rest);
  if (own === null) return null;
  return isLeft ? sha256(NODE, own, sibling) : sha256(NODE, sibling, own);
}

/** Divides bytes into pieces of `size` bytes. */
export function piecesOf(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: bytes.length / size }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}
