import { readFileSync } from 'node:fs';

// Files are found relative to this one. It stays directly in src, because the built service (server/dist) has the
// same depth.

const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** The version of this service and its API. */
export const version = String((manifest as { version: string }).version);

/** The folder with the migrations of the schema. */
export const migrationsFolder = new URL('../migrations/', import.meta.url);

/** The program of the thread that writes reports: always the built one, even if the service runs from source. */
export const reportWorker = new URL('../dist/report-worker.js', import.meta.url);
