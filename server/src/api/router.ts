import { agenciesRouter } from './agencies.ts';
import { alarmRulesRouter, alarmsRouter, policiesRouter, silencesRouter } from './alarms.ts';
import { auditRouter } from './audit.ts';
import { apiTokensRouter, authRouter, secondFactorRouter } from './auth.ts';
import { calendarsRouter } from './calendars.ts';
import { casesRouter } from './cases.ts';
import { certificatesRouter } from './certificates.ts';
import { channelsRouter } from './channels.ts';
import { connectionsRouter } from './connections.ts';
import { contactsRouter } from './contacts.ts';
import { classSchemesRouter, countsRouter } from './counts.ts';
import { eventsRouter } from './events.ts';
import { evidenceRouter } from './evidence.ts';
import { faultsRouter } from './faults.ts';
import { hitsRouter } from './hits.ts';
import { hotlistsRouter } from './hotlists.ts';
import { incidentsRouter } from './incidents.ts';
import { liveRouter } from './live.ts';
import { locationsRouter } from './locations.ts';
import { logRouter, shiftsRouter } from './log.ts';
import { mapRouter } from './map.ts';
import { noticesRouter } from './notices.ts';
import { plansRouter } from './plans.ts';
import { assignmentsRouter, pointsRouter } from './points.ts';
import { router } from './procedures.ts';
import { reportsRouter } from './reports.ts';
import { rotasRouter } from './rotas.ts';
import { sensorsRouter } from './sensors.ts';
import { backupsRouter, storageRouter } from './storage.ts';
import { studiesRouter } from './studies.ts';
import { systemRouter } from './system.ts';
import { trafficRouter } from './traffic.ts';
import { usersRouter } from './users.ts';
import { viewsRouter } from './views.ts';
import { watchlistRouter } from './watchlist.ts';
import { webhooksRouter } from './webhooks.ts';
import { worksRouter } from './works.ts';

/** The whole API, by noun. */
export const appRouter = router({
  auth: authRouter,
  secondFactor: secondFactorRouter,
  apiTokens: apiTokensRouter,
  sensors: sensorsRouter,
  faults: faultsRouter,
  connections: connectionsRouter,
  events: eventsRouter,
  evidence: evidenceRouter,
  audit: auditRouter,
  cases: casesRouter,
  certificates: certificatesRouter,
  counts: countsRouter,
  classSchemes: classSchemesRouter,
  locations: locationsRouter,
  points: pointsRouter,
  assignments: assignmentsRouter,
  traffic: trafficRouter,
  studies: studiesRouter,
  calendars: calendarsRouter,
  webhooks: webhooksRouter,
  channels: channelsRouter,
  contacts: contactsRouter,
  notices: noticesRouter,
  rotas: rotasRouter,
  incidents: incidentsRouter,
  agencies: agenciesRouter,
  plans: plansRouter,
  works: worksRouter,
  watchlist: watchlistRouter,
  hotlists: hotlistsRouter,
  hits: hitsRouter,
  alarms: alarmsRouter,
  alarmRules: alarmRulesRouter,
  policies: policiesRouter,
  silences: silencesRouter,
  log: logRouter,
  shifts: shiftsRouter,
  live: liveRouter,
  users: usersRouter,
  reports: reportsRouter,
  storage: storageRouter,
  backups: backupsRouter,
  map: mapRouter,
  views: viewsRouter,
  system: systemRouter,
});

/** The type from which typed clients are derived. */
export type AppRouter = typeof appRouter;
