/** Rows per request: the maximum that the service returns. */
export const TAKE = 100;

/** Some rows of a list, and the number of rows in the whole list. */
export interface Rows<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

/** Requests a range of rows of a list. */
export type Load<Row> = (page: { skip: number; take: number }, signal: AbortSignal) => Promise<Rows<Row>>;

/** The offset of a page, and the number of rows in the list when the previous page was read. */
export interface PageStart {
  readonly skip: number;
  readonly total: number;
}

/** A page as it was read. */
export interface Page<Row> extends Rows<Row> {
  /** The offset of the next page. */
  readonly end: number;
  /** When the page was requested, in milliseconds since 1970. */
  readonly readAt: number;
}

export const FIRST_PAGE: PageStart = { skip: 0, total: 0 };

/**
 * Reads a page of a list. If the list has become shorter since the previous page was read, the rows after the removed
 * ones have moved up, so the page is read again from a smaller offset and no row is skipped.
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
