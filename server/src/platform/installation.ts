import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder `server`: the nearest one above this file, or above the built one in `server/dist`, with a manifest. */
const server = findServer(new URL('.', import.meta.url));

const manifest: unknown = JSON.parse(readFileSync(new URL('package.json', server), 'utf8'));

/** The version of this service and its API. */
export const version = String((manifest as { version: string }).version);

/** The folder with the migrations of the schema. */
export const migrationsFolder = new URL('migrations/', server);

/** The folder with the built console (`npm run build:console`). */
export const consoleFolder = fileURLToPath(new URL('../console/dist/', server));

/** The program of the thread that writes reports: always the built one, even if the service runs from source. */
export const reportWorker = new URL('dist/report-worker.js', server);

/** The program of the process that evaluates mappings: always the built one, as above. */
export const mappingProgram = new URL('dist/mapping-program.js', server);

/** The program of the process that makes a backup: always the built one, as above. */
export const backupProgram = new URL('dist/backup-program.js', server);

/** The program of the service itself: always the built one, as above. */
export const mainProgram = new URL('dist/main.js', server);

/** The programs of the simulator, which no file of the server imports: always the built ones, as above. */
export const simulateProgram = new URL('dist/simulate.js', server);
export const demoProgram = new URL('dist/demo.js', server);

function findServer(folder: URL): URL {
  if (existsSync(new URL('package.json', folder))) return folder;
  const above = new URL('..', folder);
  if (above.href === folder.href) throw new Error(`There is no package.json above ${import.meta.url}`);
  return findServer(above);
}
