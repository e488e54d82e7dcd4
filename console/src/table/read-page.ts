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

export const FIRST_PAGE: PageStart = { skip: 0, total: 0 };

/**
 * Reads a page of a list. If rows have left the list since the page before it was read, those after them have moved up, and
 * the page is read from there, so that none is missing.
 * @returns the rows, and in `end` how many rows of the list come before the next page
 */
export async function readPage<Row>(
  load: Load<Row>,
  { skip, total }: PageStart,
  signal: AbortSignal,
): Promise<Rows<Row> & { readonly end: number }> {
  const page = await load({ skip, take: TAKE }, signal);
  if (skip === 0 || page.total >= total) return { ...page, end: skip + TAKE };
  return readPage(load, { skip: Math.max(0, skip - total + page.total), total: page.total }, signal);
}
