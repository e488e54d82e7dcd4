import type { Query, QueryClient, QueryKey } from '@tanstack/react-query';

/** The queries that are refetched once their current request is settled. */
const waiting = new WeakSet<Query>();

/**
 * Invalidates the queries of a key, which refetches the active ones. A request in flight may return data from before
 * the change, so the query is refetched once more after it. The request is not cancelled: with changes in quick
 * succession, none would ever complete.
 */
export function askAgain(client: QueryClient, queryKey: QueryKey): void {
  const underWay = client.getQueryCache().findAll({ queryKey, type: 'active', fetchStatus: 'fetching' });
  void client.invalidateQueries({ queryKey }, { cancelRefetch: false });
  for (const query of underWay) {
    if (waiting.has(query) || !query.promise) continue;
    waiting.add(query);
    const again = () => {
      waiting.delete(query);
      void client.invalidateQueries({ queryKey: query.queryKey, exact: true }, { cancelRefetch: false });
    };
    query.promise.then(again, again);
  }
}

/**
 * Invalidates all queries after the connection was broken, which refetches the active ones. Requests in flight are
 * cancelled first, because they may never get a response.
 */
export async function askAllAgain(client: QueryClient): Promise<void> {
  await client.cancelQueries({ type: 'active', fetchStatus: 'fetching' });
  await client.invalidateQueries();
}
