import { authRouter } from './auth/router.ts';
import { eventsRouter } from './events/router.ts';
import { incidentsRouter } from './incidents/router.ts';
import { locationsRouter } from './locations/router.ts';
import { reportsRouter } from './reports/router.ts';
import { sensorsRouter } from './sensors/router.ts';
import { storageRouter } from './storage/router.ts';
import { systemRouter } from './system/router.ts';
import { trafficRouter } from './traffic/router.ts';
import { usersRouter } from './users/router.ts';
import { watchlistRouter } from './watchlist/router.ts';
import { webhooksRouter } from './webhooks/router.ts';
import { router } from './wire/procedures.ts';

/** The whole API: noun → procedures. */
export const appRouter = router({
  auth: authRouter,
  sensors: sensorsRouter,
  events: eventsRouter,
  locations: locationsRouter,
  traffic: trafficRouter,
  webhooks: webhooksRouter,
  incidents: incidentsRouter,
  watchlist: watchlistRouter,
  users: usersRouter,
  reports: reportsRouter,
  storage: storageRouter,
  system: systemRouter,
});

/** The type that typed clients are made from. */
export type AppRouter = typeof appRouter;
