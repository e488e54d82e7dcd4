import {
  type InfiniteData,
  keepPreviousData,
  type QueryKey,
  useInfiniteQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useMemo, useState } from 'react';

/** Refetch interval while a row is in progress, in milliseconds. */
const POLL_MS = 2_000;

export interface PagesOptions<Row, Name extends string> {
  /** Identifies the list and its filters. */
  readonly queryKey: QueryKey;
  /** Requests a range of rows of the list. */
  readonly load: (page: Range, signal: AbortSignal) => Promise<Answer<Row, Name>>;
  /** The name that the answer has for the rows. */
  readonly rows: Name;
  readonly keyOf: (row: Row) => string;
  /** false: the list is not requested and has no rows. */
  readonly enabled?: boolean;
  /** Whether a row is about to change without user action; the list is then refetched every two seconds. */
  readonly isUnderWay?: (row: Row) => boolean;
  /** Refetch interval in milliseconds, for a list to which rows are added continuously. */
  readonly everyMs?: number;
}

/** The rows loaded so far, and the state of the query. */
export interface Pages<Row> {
  readonly rows: readonly Row[];
  /** Number of rows in the whole list; null until the first page is loaded. */
  readonly total: number | null;
  readonly isPending: boolean;
  /** Whether the rows are still those of the previous filters. */
  readonly isPreviousData: boolean;
  readonly isFetching: boolean;
  readonly error: unknown;
  readonly hasMore: boolean;
  readonly loadMore: () => void;
  /** Why the next page could not be read. `loadMore` does not retry it; `retryMore` does. */
  readonly moreError: unknown;
  readonly retryMore: () => void;
  readonly refetch: () => void;
  /** Discards all pages but the first, refetches that, and scrolls the list to the top. */
  readonly restart: () => Promise<void>;
  /** Incremented on each restart. */
  readonly generation: number;
  /** When each row was requested, by its key, in milliseconds since 1970. */
  readonly readAt: ReadonlyMap<string, number>;
  /** As in the options; an export reads all rows with it. */
  readonly load: Load<Row>;
  readonly keyOf: (row: Row) => string;
}

/**
 * A list that is loaded page by page as the user scrolls. Rows that are added or removed meanwhile shift the pages: no
 * row is skipped, and a row that is returned twice is shown once.
 */
export function usePages<Row, Name extends string>({
  queryKey,
  load: ask,
  rows: name,
  keyOf,
  enabled = true,
  isUnderWay,
  everyMs,
}: PagesOptions<Row, Name>): Pages<Row> {
  const load: Load<Row> = async (page, signal) => {
    const answer = await ask(page, signal);
    return { rows: answer[name], total: answer.total };
  };
  const client = useQueryClient();
  const [generation, setGeneration] = useState(0);
  const key = [...queryKey, 'pages'];
  const query = useInfiniteQuery({
    queryKey: key,
    enabled,
    // Rows should not move whenever the window gets the focus.
    refetchOnWindowFocus: false,
    queryFn: ({ pageParam, signal }) => readPage(load, pageParam, signal),
    initialPageParam: FIRST_PAGE,
    getNextPageParam: ({ end, total }) => (end < total ? { skip: end, total } : undefined),
    refetchInterval: ({ state }) =>
      isUnderWay && state.data?.pages.some((page) => page.rows.some(isUnderWay))
        ? POLL_MS
        : (everyMs ?? false),
    placeholderData: keepPreviousData,
  });
  const data = enabled ? query.data : undefined;
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query;
  // Loading the next page must not cancel a refetch of the loaded pages.
  const fetchMore = () => void fetchNextPage({ cancelRefetch: false });
  // biome-ignore lint/correctness/useExhaustiveDependencies: `keyOf` of a list never changes
  const { rows, readAt } = useMemo(() => {
    const byKey = new Map<string, Row>();
    const readAt = new Map<string, number>();
    for (const page of data?.pages ?? []) {
      for (const row of page.rows) {
        const key = keyOf(row);
        if (byKey.has(key)) continue;
        byKey.set(key, row);
        readAt.set(key, page.readAt);
      }
    }
    return { rows: [...byKey.values()], readAt };
  }, [data]);
  return {
    rows,
    total: data?.pages.at(-1)?.total ?? null,
    isPending: query.isPending,
    isPreviousData: query.isPlaceholderData,
    isFetching: query.isFetching,
    error: query.error,
    hasMore: hasNextPage,
    loadMore: () => {
      if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) fetchMore();
    },
    moreError: isFetchNextPageError ? query.error : null,
    retryMore: fetchMore,
    refetch: () => void query.refetch(),
    restart: async () => {
      client.setQueryData<InfiniteData<unknown>>(
        key,
        (all) => all && { pages: all.pages.slice(0, 1), pageParams: all.pageParams.slice(0, 1) },
      );
      await query.refetch();
      setGeneration((before) => before + 1);
    },
    generation,
    readAt,
    load,
    keyOf,
  };
}

/** Rows per request: the maximum that the service returns. */
export const TAKE = 100;

/** Some rows of a list, and the number of rows in the whole list. */
export interface Rows<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

interface Range {
  readonly skip: number;
  readonly take: number;
}

type Answer<Row, Name extends string> = { readonly [N in Name]: readonly Row[] } & { readonly total: number };

/** Requests a range of rows of a list. */
type Load<Row> = (page: Range, signal: AbortSignal) => Promise<Rows<Row>>;

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
