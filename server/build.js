import { createHash } from 'node:crypto';
import { access, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeBuild } from './version.js';

// Makes server/dist: the service as one file of plain JavaScript (main.js), beside it what its threads and processes
// run, and the command `gantry`. They start sooner than from the sources, and run faster, because a loader that
// translates while running names every inner function anew each time it is made. A build takes seconds of processor
// time, so it is left out if nothing has changed: the hash of all sources is kept in the folder itself.

const root = fileURLToPath(new URL('../', import.meta.url));
const dist = new URL('dist/', import.meta.url);
const stampFile = new URL('.made-of', dist);

/** The folders of the repository whose sources the programs contain. */
const WORKSPACES = [
  'server',
  'contract',
  'device-formats',
  'embedded-postgres',
  'spool',
  'client',
  'simulator',
];
const FILES = [
  'server/build.js',
  // The versions of the packages, and how the sources are resolved.
  'package-lock.json',
  'tsconfig.json',
  ...WORKSPACES.map((workspace) => `${workspace}/package.json`),
];

const sourcesHash = async () => {
  const found = await Promise.all(
    WORKSPACES.map(async (workspace) => {
      const entries = await readdir(join(root, workspace, 'src'), { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    }),
  );
  const paths = [...FILES.map((file) => join(root, file)), ...found.flat().sort()];
  const contents = await Promise.all(paths.map((path) => readFile(path)));
  const hash = createHash('sha256');
  paths.forEach((path, index) => {
    hash.update(`${path.slice(root.length)}\0${contents[index].length}\0`).update(contents[index]);
  });
  return hash.digest('hex');
};

/** Whether the last build is of the same sources, and all of its files are present. */
const isCurrent = async (hash) => {
  try {
    const { madeOf, names } = JSON.parse(await readFile(stampFile, 'utf8'));
    await Promise.all(names.map((name) => access(new URL(name, dist))));
    return madeOf === hash;
  } catch {
    return false;
  }
};

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
  'sql.js',
];
/** Bundled CommonJS packages load the modules of Node with it. */
const REQUIRE = `import { createRequire as createRequireOfBundle } from 'node:module';
const require = createRequireOfBundle(import.meta.url);`;

const common = {
  absWorkingDir: root,
  outdir: 'server/dist',
  bundle: true,
  // What several programs use, and what is loaded on demand, become files of their own. They lie beside the programs,
  // because platform/installation.ts expects that.
  splitting: true,
  chunkNames: 'part-[hash]',
  platform: 'node',
  target: 'node20',
  format: 'esm',
  external: NOT_BUNDLED,
  banner: { js: REQUIRE },
  alias: { '@gantry/contract': './contract/src', '@gantry/client': './client/src/client.ts' },
  sourcemap: 'linked',
  // Node reads the map when it loads the file; the names and lines in it are enough for a stack trace.
  sourcesContent: false,
  minifyWhitespace: true,
  logLevel: 'warning',
  write: false,
};

const madeOf = await sourcesHash();
if (!(await isCurrent(madeOf))) await make();
await keep(fileURLToPath(new URL('version.json', dist)), Buffer.from(JSON.stringify(describeBuild())));

async function make() {
  const { build } = await import('esbuild');
  const builds = await Promise.all([
    build({
      ...common,
      entryPoints: {
        main: 'server/src/programs/main.ts',
        'report-worker': 'server/src/reports/worker.ts',
        'hotlist-worker': 'server/src/hotlists/import-worker.ts',
        'sealing-thread': 'server/src/evidence/sealing-thread.ts',
        'reading-thread': 'server/src/devices/reading-thread.ts',
        'workbook-thread': 'server/src/platform/workbook-thread.ts',
        'mapping-program': 'device-formats/src/mapping-program.ts',
        'backup-program': 'server/src/operations/backup/program.ts',
        'map-program': 'server/src/map/program.ts',
        'watchdog-thread': 'server/src/platform/process/watchdog-thread.ts',
      },
    }),
    build({
      ...common,
      entryPoints: {
        gantry: 'server/src/programs/gantry.ts',
        // Programs of their own, which the command loads.
        simulate: 'simulator/src/simulate.ts',
        demo: 'simulator/src/demo.ts',
      },
    }),
    // One file that people read before they trust it.
    build({
      ...common,
      entryPoints: { 'gantry-verify': 'server/src/evidence/gantry-verify.ts' },
      outExtension: { '.js': '.mjs' },
      splitting: false,
      external: [],
      banner: {
        js: '#!/usr/bin/env node\n// Verifies evidence packages of Gantry: docs/evidence.md. Apache-2.0.',
      },
      sourcemap: false,
      minifyWhitespace: false,
    }),
  ]);
  const outputFiles = builds.flatMap((built) => built.outputFiles);
  // Swagger UI, from the package of Fastify: its own package brings one that reports installations to its makers.
  const swagger = dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui'));
  for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']) {
    const path = fileURLToPath(new URL(`docs/${name}`, dist));
    outputFiles.push({ path, contents: await readFile(join(swagger, 'static', name)) });
  }

  for (const { path, contents } of outputFiles) await keep(path, contents);

  const made = new Set(outputFiles.map(({ path }) => path));
  for (const name of await readdir(dist)) {
    const path = fileURLToPath(new URL(name, dist));
    if (/^part-.*\.js(\.map)?$/.test(name) && !made.has(path)) await rm(path, { force: true });
  }
  const names = [...made].map((path) => path.slice(fileURLToPath(dist).length));
  // Without it, as in a folder that may only be read, the next start builds again.
  await replace(fileURLToPath(stampFile), JSON.stringify({ madeOf, names })).catch(() => undefined);
}

/** Writes a file unless it has these contents, so that a user who may only read the folder can start the service. */
async function keep(path, contents) {
  const present = await readFile(path).catch(() => null);
  if (!present?.equals(contents)) await replace(path, contents);
}

/** Writes a file beside its place and renames it, because several services may be started at once. */
async function replace(path, contents) {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, contents);
  await rename(draft, path);
}
