import { storageStats } from '@gantry/contract/storage';
import { router, signedIn } from '../wire/procedures.ts';
import { getStorageStats } from './store.ts';

export const storageRouter = router({
  getStats: signedIn
    .meta({ summary: 'What is stored and how much room it takes' })
    .output(storageStats)
    .query(({ ctx }) => getStorageStats(ctx.app.db)),
});
