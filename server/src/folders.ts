/** Where the migrations are. Said in this folder, because the built service (server/dist) is as deep in the tree. */
export const migrationsFolder = new URL('../migrations/', import.meta.url);
/** The program of the thread that makes a report: always the built one, also for a service that runs from its sources. */
export const reportWorker = new URL('../dist/report-worker.js', import.meta.url);
