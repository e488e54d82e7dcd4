import { keepPreviousData, type QueryKey, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

/** Rows that one call gets. */
const TAKE = 100;

export interface PagesOptions<Row> {
  /** Names the list and its filters. */
  readonly queryKey: QueryKey;
  readonly load: (
    page: { skip: number; take: number },
    signal: AbortSignal,
  ) => Promise<{ readonly rows: readonly Row[]; readonly total: number }>;
  readonly keyOf: (row: Row) => string;
}

/** What a list knows of its rows so far. */
export interface Pages<Row> {
  readonly rows: readonly Row[];
  /** Of all pages; null until the first is there. */
  readonly total: number | null;
  readonly isPending: boolean;
  readonly isFetching: boolean;
  readonly error: unknown;
  readonly hasMore: boolean;
  readonly loadMore: () => void;
  readonly refetch: () => void;
  /** When the rows were asked for, in milliseconds since 1970. */
  readonly updatedAt: number;
}

/**
 * A list that is read page by page as it is scrolled. Rows that are added meanwhile move the pages; a row that comes twice
 * is shown once.
 */
export function usePages<Row>({ queryKey, load, keyOf }: PagesOptions<Row>): Pages<Row> {
  const query = useInfiniteQuery({
    queryKey: [...queryKey, 'pages'],
    queryFn: ({ pageParam, signal }) => load({ skip: pageParam, take: TAKE }, signal),
    initialPageParam: 0,
    getNextPageParam: ({ total }, pages) => {
      const loaded = pages.length * TAKE;
      return loaded < total ? loaded : undefined;
    },
    placeholderData: keepPreviousData,
  });
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a list has one way of naming its rows
  const rows = useMemo(() => {
    const byKey = new Map<string, Row>();
    for (const row of data?.pages.flatMap((page) => page.rows) ?? []) {
      const key = keyOf(row);
      if (!byKey.has(key)) byKey.set(key, row);
    }
    return [...byKey.values()];
  }, [data]);
  return {
    rows,
    total: data?.pages.at(-1)?.total ?? null,
    isPending: query.isPending,
    isFetching: query.isFetching,
    error: query.error,
    hasMore: hasNextPage,
    loadMore: () => {
      if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
    },
    refetch: () => void query.refetch(),
    updatedAt: query.dataUpdatedAt,
  };
}
