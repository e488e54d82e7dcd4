import type { Query, QueryClient, QueryKey } from '@tanstack/react-query';

/** Those that are asked for once more when they are answered. */
const waiting = new WeakSet<Query>();

/**
 * Asks again for what is shown of a key. A question that is under way may be answered from before the change, so it is
 * asked once more after its answer; it is not broken off, or changes in quick succession would leave it without one.
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

/** Asks again for everything that is shown, after a break: what was under way then may never be answered. */
export async function askAllAgain(client: QueryClient): Promise<void> {
  await client.cancelQueries({ type: 'active', fetchStatus: 'fetching' });
  await client.invalidateQueries();
}
