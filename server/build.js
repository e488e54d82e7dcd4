import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

// Makes server/dist: the service as one file of plain JavaScript (main.js), beside it what its threads and processes
// run, and the command `gantry`. They start sooner than from the sources, and run faster, because a loader that
// translates while running names every inner function anew each time it is made.

const root = fileURLToPath(new URL('../', import.meta.url));
const dist = new URL('dist/', import.meta.url);

const common = {
  absWorkingDir: root,
  outdir: 'server/dist',
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  // What comes from npm stays where it is; the contract and the client are ours.
  packages: 'external',
  alias: { '@gantry/contract': './contract/src', '@gantry/client': './client/src/client.ts' },
  sourcemap: 'linked',
  logLevel: 'warning',
  write: false,
};

const builds = await Promise.all([
  build({
    ...common,
    entryPoints: {
      main: 'server/src/main.ts',
      'report-worker': 'server/src/reports/worker.ts',
      'mapping-program': 'server/src/connections/mapping-program.ts',
      'backup-program': 'server/src/backup/program.ts',
    },
  }),
  build({
    ...common,
    entryPoints: {
      gantry: 'server/src/commands/gantry.ts',
      // Programs of their own, which the command loads.
      simulate: 'simulator/src/simulate.ts',
      demo: 'simulator/src/demo.ts',
    },
    // A command loads only the part that it needs. The parts lie beside it, because installation.ts expects that.
    splitting: true,
    chunkNames: 'part-[hash]',
  }),
]);
const outputFiles = builds.flatMap((built) => built.outputFiles);

for (const { path, contents } of outputFiles) {
  const present = await readFile(path).catch(() => null);
  // Left alone when nothing changed, so that a user who may only read the folder can start the service.
  if (present?.equals(contents)) continue;
  await mkdir(dist, { recursive: true });
  // Renamed into place, because several services may be started at once.
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, contents);
  await rename(draft, path);
}

const made = new Set(outputFiles.map(({ path }) => path));
for (const name of await readdir(dist)) {
  const path = fileURLToPath(new URL(name, dist));
  if (/^part-.*\.js(\.map)?$/.test(name) && !made.has(path)) await rm(path, { force: true });
}
