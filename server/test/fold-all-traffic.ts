import { foldTraffic } from '../src/traffic/fold-store.ts';
import type { Gantry } from './harness.ts';

/** Folds all traffic, `limit` groups at a time, and waits while the service itself is folding. */
export const foldAllTraffic = async ({ app, pool }: Gantry, limit: number): Promise<void> => {
  const isDone = async () => (await pool.query('SELECT FROM traffic_unfolded LIMIT 1')).rows.length === 0;
  while (!(await isDone())) await foldTraffic(app.context.db, limit);
};
