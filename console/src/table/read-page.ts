/** Rows that one call gets: the most that the service gives. */
export const TAKE = 100;

/** Some rows of a list, and how many the list has. */
export interface Rows<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

/** Reads some rows of a list. */
export type Load<Row> = (page: { skip: number; take: number }, signal: AbortSignal) => Promise<Rows<Row>>;

/** Where a page begins, and how many rows the list had when the page before it was read. */
export interface PageStart {
  readonly skip: number;
  readonly total: number;
}

/** Rows that were read at once. */
export interface Page<Row> extends Rows<Row> {
  /** How many rows of the list come before the next page. */
  readonly end: number;
  /** When they were asked for, in milliseconds since 1970. */
  readonly readAt: number;
}

export const FIRST_PAGE: PageStart = { skip: 0, total: 0 };

/**
 * Reads a page of a list. If rows have left the list since the page before it was read, those after them have moved up, and
 * the page is read from there, so that none is missing.
 */
export async function readPage<Row>(
  load: Load<Row>,
  { skip, total }: PageStart,
  signal: AbortSignal,
): Promise<Page<Row>> {
  const readAt = Date.now();
  const page = await load({ skip, take: TAKE }, signal);
  if (skip === 0 || page.total >= total) return { ...page, end: skip + TAKE, readAt };
  return readPage(load, { skip: Math.max(0, skip - total + page.total), total: page.total }, signal);
}
