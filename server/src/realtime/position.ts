/**
 * A position in the feed of changes, which is ordered by transaction and then by number: everything before it has
 * been sent. `index` counts the events of a commit group.
 */
export interface Position {
  readonly xid: bigint;
  readonly seq: bigint;
  readonly index: number;
}

/** Negative if `a` is before `b`, positive if it is after it, 0 if they are the same. */
export function compare(a: Position, b: Position): number {
  if (a.xid !== b.xid) return a.xid < b.xid ? -1 : 1;
  if (a.seq !== b.seq) return a.seq < b.seq ? -1 : 1;
  return a.index - b.index;
}

/** A position with the time at which it was reached, which determines whether the changes after it are still stored. */
export interface Cursor {
  readonly position: Position;
  /** Unix milliseconds, by the clock of the database. */
  readonly at: number;
}

const MARK = /^(\d{1,20})\.(\d{1,19})\.(\d{1,7})\.(\d{1,14})$/;
const MAX_XID = 2n ** 64n - 1n;
const MAX_SEQ = 2n ** 63n - 1n;

/** Converts a cursor to the id of a message. */
export function writeCursor({ position: { xid, seq, index }, at }: Cursor): string {
  return `${xid}.${seq}.${index}.${at}`;
}

/** Converts the id of a message to its cursor; null when it is invalid. */
export function readCursor(id: string): Cursor | null {
  const [, xid, seq, index, at] = MARK.exec(id) ?? [];
  if (xid === undefined || seq === undefined) return null;
  const position = { xid: BigInt(xid), seq: BigInt(seq), index: Number(index) };
  return position.xid > MAX_XID || position.seq > MAX_SEQ ? null : { position, at: Number(at) };
}
