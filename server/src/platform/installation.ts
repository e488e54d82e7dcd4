import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder `server`: the nearest one above this file, or above the built one in `server/dist`, with a manifest. */
const server = findServer(new URL('.', import.meta.url));

/** What server/version.js says of this build. A program that runs from source before any build knows its version only. */
interface Build {
  readonly version: string;
  readonly commit?: string | null;
  /** When the commit was made, as ISO 8601. */
  readonly date?: string | null;
}

const built = new URL('dist/version.json', server);
const build = JSON.parse(
  readFileSync(existsSync(built) ? built : new URL('package.json', server), 'utf8'),
) as Build;

/** The version of this service and its API, with the time and the commit of the build: `0.2.0-git20261126t2145.2ec4c71`. */
export const { version } = build;

/** The version, the commit and its date, in one line. */
export const longVersion = build.commit
  ? `${version} (commit ${build.commit} of ${String(build.date).slice(0, 10)})`
  : version;

/** The folder with the migrations of the schema. */
export const migrationsFolder = new URL('migrations/', server);

/** The folder with the built console (`npm run build:console`). */
export const consoleFolder = fileURLToPath(new URL('../console/dist/', server));

/** The files of Swagger UI that the page of the API's documents loads, copied by server/build.js. */
export const documentsFolder = new URL('dist/docs/', server);

/** The program of the thread that writes reports: always the built one, even if the service runs from source. */
export const reportWorker = new URL('dist/report-worker.js', server);

/** The program of the thread that reads and applies files of hotlists: always the built one, as above. */
export const hotlistWorker = new URL('dist/hotlist-worker.js', server);

/** The program of the thread that makes seals: always the built one, as above. */
export const sealingThread = new URL('dist/sealing-thread.js', server);

/** The program of the thread that reads large messages of devices: always the built one, as above. */
export const readingThread = new URL('dist/reading-thread.js', server);

/** The program of the thread that reads a workbook: always the built one, as above. */
export const workbookThread = new URL('dist/workbook-thread.js', server);

/** The program of the process that evaluates mappings: always the built one, as above. */
export const mappingProgram = new URL('dist/mapping-program.js', server);

/** The program of the process that makes a backup: always the built one, as above. */
export const backupProgram = new URL('dist/backup-program.js', server);

/** The program of the process that makes the tiles of roads: always the built one, as above. */
export const mapProgram = new URL('dist/map-program.js', server);

/** The program that verifies evidence packages, which the service offers: always the built one, as above. */
export const verifyProgram = new URL('dist/gantry-verify.mjs', server);

/** The program of the thread that watches the event loop: always the built one, as above. */
export const watchdogThread = new URL('dist/watchdog-thread.js', server);

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
