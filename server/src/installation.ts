import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// Files are found relative to this one. It stays directly in src, because the built service (server/dist) has the
// same depth.

const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** The version of this service and its API. */
export const version = String((manifest as { version: string }).version);

/** The folder with the migrations of the schema. */
export const migrationsFolder = new URL('../migrations/', import.meta.url);

/** The folder with the built console (`npm run build:console`). */
export const consoleFolder = fileURLToPath(new URL('../../console/dist/', import.meta.url));

/** The program of the thread that writes reports: always the built one, even if the service runs from source. */
export const reportWorker = new URL('../dist/report-worker.js', import.meta.url);

/** The program of the process that evaluates mappings: always the built one, as above. */
export const mappingProgram = new URL('../dist/mapping-program.js', import.meta.url);

/** The program of the process that makes a backup: always the built one, as above. */
export const backupProgram = new URL('../dist/backup-program.js', import.meta.url);

/** The program of the service itself: always the built one, as above. */
export const mainProgram = new URL('../dist/main.js', import.meta.url);

/** The programs of the simulator, which no file of the server imports: always the built ones, as above. */
export const simulateProgram = new URL('../dist/simulate.js', import.meta.url);
export const demoProgram = new URL('../dist/demo.js', import.meta.url);
