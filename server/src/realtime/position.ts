/**
 * A place in the feed of changes, which is ordered by transaction and, within it, by number: everything before it has
 * been told. `index` counts the events of a commit group.
 */
export interface Position {
  readonly xid: bigint;
  readonly seq: bigint;
  readonly index: number;
}

export function compare(a: Position, b: Position): number {
  if (a.xid !== b.xid) return a.xid < b.xid ? -1 : 1;
  if (a.seq !== b.seq) return a.seq < b.seq ? -1 : 1;
  return a.index - b.index;
}

/** A position and when it was reached, which tells whether what follows it is still kept. */
export interface Mark {
  readonly position: Position;
  /** Unix milliseconds, by the clock of the database. */
  readonly at: number;
}

const MARK = /^(\d{1,20})\.(\d{1,19})\.(\d{1,7})\.(\d{1,14})$/;
const MAX_XID = 2n ** 64n - 1n;
const MAX_SEQ = 2n ** 63n - 1n;

/** The mark as the id of a message. */
export function writeMark({ position: { xid, seq, index }, at }: Mark): string {
  return `${xid}.${seq}.${index}.${at}`;
}

/** The mark that the id of a message stands for; null when it is none. */
export function readMark(id: string): Mark | null {
  const [, xid, seq, index, at] = MARK.exec(id) ?? [];
  if (xid === undefined || seq === undefined) return null;
  const position = { xid: BigInt(xid), seq: BigInt(seq), index: Number(index) };
  return position.xid > MAX_XID || position.seq > MAX_SEQ ? null : { position, at: Number(at) };
}
