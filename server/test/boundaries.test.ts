import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Import {
  readonly from: string;
  /** The imported file relative to the repository, or the name of a package. */
  readonly to: string;
  readonly isType: boolean;
}

const filesUnder = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name));

const IMPORT = /^(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm;

/**
 * Matches a dynamic import, with which a command loads code when it runs. The empty group stands for `type` in IMPORT.
 */
const DYNAMIC_IMPORT = /\bimport\(()'([^']+)'\)/g;

const importsOf = (file: string): Import[] => {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(IMPORT), ...text.matchAll(DYNAMIC_IMPORT)].map(([, type, target]) => ({
    from: file,
    to: target?.startsWith('.') ? normalize(join(dirname(file), target)) : String(target),
    isType: Boolean(type),
  }));
};

/** The workspaces that know nothing of the service. */
const PACKAGES = ['device-formats', 'embedded-postgres', 'spool'];

const sources = [
  'contract',
  ...PACKAGES,
  'server',
  'client',
  'simulator',
  'bench',
  'edge',
  'console',
].flatMap((workspace) => filesUnder(`${workspace}/src`));
const imports = sources.flatMap(importsOf);
const server = imports.filter(({ from }) => from.startsWith('server/src/'));
const console = imports.filter(({ from }) => from.startsWith('console/src/'));

const offenders = (wrong: readonly Import[]): string[] =>
  wrong.map(({ from, to }) => `${from} imports ${to}`);

const moduleOf = (file: string): string => relative('server/src', file).split('/')[0] ?? '';

/** The files of one cycle of imports, including types; empty when there is none. */
const cycleIn = (among: readonly Import[]): string[] => {
  const targets = new Map<string, Import[]>();
  for (const each of among) targets.set(each.from, [...(targets.get(each.from) ?? []), each]);
  const done = new Set<string>();
  const walk = (file: string, path: readonly string[]): string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const { to } of targets.get(file) ?? []) {
      const cycle = walk(to, [...path, file]);
      if (cycle.length > 0) return cycle;
    }
    done.add(file);
    return [];
  };
  for (const file of targets.keys()) {
    const cycle = walk(file, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
};

/**
 * The layers of the server, the lowest first, each with its modules (the folders directly in server/src). A
 * file may import files of its own module and of modules on lower layers.
 */
const LAYERS: readonly (readonly string[])[] = [
  ['platform'],
  ['rpc', 'activity'],
  ['accounts', 'system'],
  ['realtime'],
  ['events', 'sensors'],
  ['evidence', 'images', 'incidents', 'map', 'notices', 'traffic', 'watchlist', 'webhooks'],
  ['audit', 'cases', 'hotlists', 'works'],
  ['alarms'],
  ['ingest', 'logbook', 'operations', 'reports'],
  ['devices'],
  ['api', 'http'],
  ['programs'],
];
const serverLayerOf = (file: string): number =>
  LAYERS.findIndex((modules) => modules.includes(moduleOf(file)));

const tests = [...PACKAGES, 'client', 'server', 'simulator', 'bench', 'edge', 'console']
  .flatMap((workspace) => filesUnder(`${workspace}/test`))
  .flatMap(importsOf);

describe('the tests', () => {
  it('that start or kill processes of Gantry are in the folders that npm run test:processes runs', () => {
    expect(tests.some(({ from }) => from.includes('/processes/'))).toBe(true);
    const allowed = ({ from }: Import) => /\/test\/(processes|citus)\//.test(from);
    expect(offenders(tests.filter((each) => each.to.includes('/test/processes/') && !allowed(each)))).toEqual(
      [],
    );
  });
});

describe('the boundaries between modules', () => {
  it('are checked on the imports that exist', () => {
    expect(server.length).toBeGreaterThan(100);
  });

  it('allow the contract to import only zod', () => {
    const wrong = imports.filter(
      ({ from, to }) => from.startsWith('contract/') && !to.startsWith('contract/') && to !== 'zod',
    );
    expect(offenders(wrong)).toEqual([]);
  });

  it.each(PACKAGES)('allow %s to import only itself and its dependencies', (workspace) => {
    const { dependencies = {} } = JSON.parse(readFileSync(join(root, workspace, 'package.json'), 'utf8'));
    const isDependency = (to: string): boolean =>
      Object.keys(dependencies).some((name) => to === name || to.startsWith(`${name}/`));
    const allowed = (to: string): boolean =>
      to.startsWith(`${workspace}/src/`) || to.startsWith('node:') || isDependency(to);
    const wrong = imports.filter(({ from, to }) => from.startsWith(`${workspace}/`) && !allowed(to));
    expect(offenders(wrong)).toEqual([]);
  });

  it('allow other workspaces to use these packages only by their names', () => {
    const within = (workspace: string, file: string): boolean => file.startsWith(`${workspace}/`);
    const wrong = [...imports, ...tests].filter(({ from, to }) =>
      PACKAGES.some((workspace) => within(workspace, to) && !within(workspace, from)),
    );
    expect(offenders(wrong)).toEqual([]);
  });

  it('allow the client, the simulator and the benchmarks to use the server only over HTTP', () => {
    // The demo starts the service as a process; the client imports the type of the router, which does not exist at
    // run time.
    const wrong = imports.filter(
      ({ from, to, isType }) =>
        !from.startsWith('server/') &&
        (to.startsWith('server/') || (to.startsWith('@gantry/server') && !isType)),
    );
    expect(offenders(wrong)).toEqual([]);
  });

  it('give every module of the server a layer', () => {
    expect(sources.filter((file) => file.startsWith('server/src/') && serverLayerOf(file) === -1)).toEqual(
      [],
    );
  });

  it('allow a module to import only modules of lower layers', () => {
    const wrong = server.filter(
      ({ from, to }) =>
        to.startsWith('server/src/') &&
        moduleOf(from) !== moduleOf(to) &&
        serverLayerOf(to) >= serverLayerOf(from),
    );
    expect(offenders(wrong)).toEqual([]);
  });

  it('allow no cycle of imports between files', () => {
    expect(cycleIn(imports)).toEqual([]);
  });

  it('keep the RPC library in the modules that handle calls', () => {
    const wrong = server.filter(
      ({ from, to }) => to.startsWith('@trpc/') && !/^server\/src\/(rpc|api|http)\//.test(from),
    );
    expect(offenders(wrong)).toEqual([]);
  });

  it('keep environment variables in main and the settings', () => {
    const wrong = sources.filter(
      (file) =>
        file.startsWith('server/src/') &&
        !['server/src/programs/main.ts', 'server/src/platform/load-config.ts'].includes(file) &&
        readFileSync(join(root, file), 'utf8').includes('process.env'),
    );
    expect(wrong).toEqual([]);
  });

  it('name each time limit that is combined with another signal: in Node.js 20, AbortSignal.any alone does not keep it', () => {
    const UNNAMED = /AbortSignal\.any\([^;]*AbortSignal\.timeout/;
    expect(sources.filter((file) => UNNAMED.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
  });

  it('allow one file to read the clock of the machine, and few files to import it', () => {
    const clock = 'server/src/platform/machine-time.ts';
    const READS =
      /\bDate\.now\b|\bnew Date(?!\()|\bnew Date\(\)|(?<!new )\bDate\(|\bDateTime\.(now|local|utc)\(\)/;
    const readers = sources.filter(
      (file) =>
        file.startsWith('server/src/') &&
        READS.test(readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')),
    );
    expect(readers).toEqual([clock]);
    // Only files that deal with times set by the machine itself, and the clock that compares the machine with the
    // database. All others use the time of the service.
    expect(
      server
        .filter(({ to }) => to === clock)
        .map(({ from }) => from)
        .sort(),
    ).toEqual([
      'server/src/devices/spool.ts',
      'server/src/map/folder.ts',
      'server/src/operations/backup/folder.ts',
      'server/src/operations/doctor/database.ts',
      'server/src/operations/transfer/import.ts',
      'server/src/platform/clock.ts',
      'server/src/programs/commands/gateway.ts',
      'server/src/programs/commands/mail.ts',
      'server/src/programs/commands/map.ts',
      'server/src/reports/files.ts',
    ]);
  });

  it('keep SQL in the stores, the database and the writer of events', () => {
    const SQL = /\b(SELECT\s+[\w*(]|INSERT INTO|UPDATE\s+\w+\s+SET|DELETE FROM|CREATE TABLE)/;
    // A benchmark reads tables directly to check the answers of the service.
    const mayHaveSql = (file: string): boolean =>
      file.startsWith('bench/') ||
      file.startsWith('embedded-postgres/') ||
      /(^|[-/])store\.ts$/.test(file) ||
      /^server\/src\/(platform\/database|events\/(list|counts))\//.test(file) ||
      file === 'server/src/events/partitions.ts';
    const wrong = sources.filter(
      (file) => !mayHaveSql(file) && SQL.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(wrong).toEqual([]);
  });

  it('keep stores independent of services', () => {
    const wrong = server.filter(
      ({ from, to }) => /(^|[-/])store\.ts$/.test(from) && /\/(service|start)\.ts$/.test(to),
    );
    expect(offenders(wrong)).toEqual([]);
  });

  it('keep pure rules free of context, clock and database', () => {
    const pure = [
      'server/src/platform/case-fold.ts',
      'server/src/platform/history.ts',
      'server/src/events/severity.ts',
      'server/src/events/matches.ts',
      'server/src/events/event-row.ts',
      'server/src/incidents/from-event.ts',
      'server/src/incidents/grouping.ts',
      'server/src/traffic/bin.ts',
      'server/src/realtime/position.ts',
      'server/src/watchlist/matching.ts',
      'server/src/platform/back-off.ts',
      'server/src/webhooks/matching.ts',
      'server/src/alarms/step.ts',
      'server/src/alarms/plan.ts',
      'server/src/alarms/suppress.ts',
      'server/src/rpc/headers.ts',
    ];
    const wrong = server.filter(
      ({ from, to }) => pure.includes(from) && !to.startsWith('@gantry/contract/') && !pure.includes(to),
    );
    expect(offenders(wrong)).toEqual([]);
  });

  it('allow neither barrels nor folders for miscellaneous code', () => {
    const wrong = sources.filter((file) =>
      /(^|\/)(utils?|helpers?|common|manager|misc|index)(\.ts|\/)/.test(file),
    );
    expect(wrong).toEqual([]);
  });
});

/** The layers of the console, the lowest first: the folders directly in console/src. */
const CONSOLE_LAYERS = ['ui', 'shared', 'pages', 'app'];
const partsOf = (file: string): string[] => relative('console/src', file).split('/');
const layerOf = (file: string): number => CONSOLE_LAYERS.indexOf(partsOf(file)[0] ?? '');

/** A module of the console: `ui` or `app`, or a folder in `shared` or `pages`. */
const consoleModuleOf = (file: string): string => {
  const [layer = '', folder = ''] = partsOf(file);
  return ['shared', 'pages'].includes(layer) ? `${layer}/${folder}` : layer;
};

describe('the layers of the console', () => {
  const inside = console.filter(({ to }) => to.startsWith('console/src/'));

  it('are checked on the imports that exist, also of components', () => {
    expect(inside.filter(({ from }) => from.endsWith('.tsx')).length).toBeGreaterThan(1_000);
  });

  it('contain every file', () => {
    const outside = sources.filter((file) => file.startsWith('console/src/') && layerOf(file) === -1);
    expect(outside).toEqual(['console/src/vite-env.d.ts']);
  });

  it('allow a file to import only its own layer and lower ones', () => {
    expect(offenders(inside.filter(({ from, to }) => layerOf(to) > layerOf(from)))).toEqual([]);
  });

  it('allow no page to import another one', () => {
    const wrong = inside.filter(({ from, to }) => partsOf(to)[0] === 'pages' && partsOf(from)[0] === 'pages');
    expect(offenders(wrong.filter(({ from, to }) => consoleModuleOf(from) !== consoleModuleOf(to)))).toEqual(
      [],
    );
  });

  it('allow no cycle of imports between modules', () => {
    const between = inside
      .map((each) => ({ ...each, from: consoleModuleOf(each.from), to: consoleModuleOf(each.to) }))
      .filter(({ from, to }) => from !== to);
    expect(new Set(between.map(({ from }) => from)).size).toBeGreaterThan(20);
    expect(cycleIn(between)).toEqual([]);
  });

  it('keep the lowest one free of the product', () => {
    const wrong = console.filter(
      ({ from, to }) => from.startsWith('console/src/ui/') && to.startsWith('@gantry/'),
    );
    expect(offenders(wrong)).toEqual([]);
  });
});
