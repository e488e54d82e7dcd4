import {
  type InfiniteData,
  keepPreviousData,
  type QueryKey,
  useInfiniteQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { FIRST_PAGE, type Load, readPage } from './read-page.ts';

/** From one question to the next while a row is under way, in milliseconds. */
const POLL_MS = 2_000;

export interface PagesOptions<Row> {
  /** Names the list and its filters. */
  readonly queryKey: QueryKey;
  readonly load: Load<Row>;
  readonly keyOf: (row: Row) => string;
  /** false: the list is not asked for yet, and has no rows. */
  readonly enabled?: boolean;
  /** Whether a row is about to change by itself: then the list is asked for again every few seconds. */
  readonly isUnderWay?: (row: Row) => boolean;
  /** Asks again after so many milliseconds, for a list to which rows are added all the time. */
  readonly everyMs?: number;
}

/** What a list knows of its rows so far. */
export interface Pages<Row> {
  readonly rows: readonly Row[];
  /** Of all pages; null until the first is there. */
  readonly total: number | null;
  readonly isPending: boolean;
  /** The rows are still those of the filters before. */
  readonly isOfBefore: boolean;
  readonly isFetching: boolean;
  readonly error: unknown;
  readonly hasMore: boolean;
  readonly loadMore: () => void;
  /** Why the next page could not be read. It is not asked for again by itself. */
  readonly moreError: unknown;
  readonly retryMore: () => void;
  readonly refetch: () => void;
  /** Forgets the rows and begins again with the first page, at the top of the list. */
  readonly restart: () => Promise<void>;
  /** Goes up with each new beginning. */
  readonly generation: number;
  /** When each row was asked for, by its key, in milliseconds since 1970. */
  readonly readAt: ReadonlyMap<string, number>;
  /** How rows are read and named, for a file of all of them. */
  readonly load: Load<Row>;
  readonly keyOf: (row: Row) => string;
}

/**
 * A list that is read page by page as it is scrolled. Rows that are added or leave meanwhile move the pages: none is left
 * out, and a row that comes twice is shown once.
 */
export function usePages<Row>({
  queryKey,
  load,
  keyOf,
  enabled = true,
  isUnderWay,
  everyMs,
}: PagesOptions<Row>): Pages<Row> {
  const client = useQueryClient();
  const [generation, setGeneration] = useState(0);
  const key = [...queryKey, 'pages'];
  const query = useInfiniteQuery({
    queryKey: key,
    enabled,
    // Rows move when the user asks for it, not whenever the window gets the focus.
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
  // The next page must not put an end to the reading of those before it.
  const fetchMore = () => void fetchNextPage({ cancelRefetch: false });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a list has one way of naming its rows
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
    isOfBefore: query.isPlaceholderData,
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
