import { readFile, rm } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The environment variable with the timings of the program `service`, as JSON. */
export const TEST_TIMINGS = 'TIMINGS_OF_TEST';
const OUT = 'node_modules/.cache/gantry-test-programs';

/** The programs that tests start besides the service, each by the name of its built file. */
const PROGRAMS = {
  bench: 'bench/src/main.ts',
  edge: 'edge/src/main.ts',
  'embedded-service': 'embedded-postgres/test/processes/embedded-service.ts',
  /** The service, with intervals that the test shortens (`spawnWithTimings` of processes/service-process.ts). */
  service: 'server/src/programs/main.ts',
} as const;

/** The command `gantry`, which server/build.js builds before all tests. */
export const GANTRY = `${ROOT}server/bin/gantry.cjs`;

/**
 * The path of a program. It is built once for the whole run, because a loader would translate its sources in every
 * process.
 */
export const programPath = (name: keyof typeof PROGRAMS): string => `${ROOT}${OUT}/${name}.js`;

/**
 * Replaces `import.meta.url` by the address of the source file, because programs find their files relative to it and
 * the bundle lies elsewhere.
 */
const keepPlaces: Plugin = {
  name: 'keep-places',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const place = JSON.stringify(pathToFileURL(path).href);
      return { contents: source.replaceAll('import.meta.url', place), loader: 'ts' };
    });
  },
};

/** Bundles what belongs to the repository, and leaves other packages in node_modules. */
const leavePackages: Plugin = {
  name: 'leave-packages',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('@gantry/') ? undefined : { path, external: true },
    );
  },
};

/** Lets a test that starts the service shorten its intervals, which are not settings. */
const takeTimings: Plugin = {
  name: 'take-timings',
  setup({ onLoad }) {
    onLoad({ filter: /\/platform\/timings\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const assign = `Object.assign(TIMINGS, JSON.parse(process.env.${TEST_TIMINGS} ?? '{}'));`;
      return { contents: `${source}\n${assign}`, loader: 'ts' };
    });
  },
};

/** Builds the programs. */
export const buildPrograms = async (): Promise<void> => {
  await rm(`${ROOT}${OUT}`, { recursive: true, force: true });
  await build({
    absWorkingDir: ROOT,
    entryPoints: PROGRAMS,
    outdir: OUT,
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    alias: { '@gantry/client': './client/src/client.ts', '@gantry/simulator': './simulator' },
    sourcemap: 'linked',
    logLevel: 'warning',
    plugins: [leavePackages, takeTimings, keepPlaces],
  });
};
