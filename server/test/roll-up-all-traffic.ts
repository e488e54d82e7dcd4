import { rollUpTraffic } from '../src/traffic/roll-up-store.ts';
import type { Gantry } from './harness.ts';

/** Rolls up all traffic, `limit` groups at a time, and waits while the service itself is rolling up. */
export const rollUpAllTraffic = async ({ app, pool }: Gantry, limit: number): Promise<void> => {
  const isDone = async () => (await pool.query('SELECT FROM traffic_unfolded LIMIT 1')).rows.length === 0;
  while (!(await isDone())) await rollUpTraffic(app.context.db, limit);
};
