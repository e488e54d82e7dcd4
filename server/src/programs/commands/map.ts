import { randomUUID } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { CurrentRoads, RoadsReport } from '@gantry/contract/map';
import { MAX_ATTRIBUTION, type RoadsLeftOutReason } from '@gantry/contract/map-values';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import type { Command } from 'commander';
import { CommandFailed, inMegabytes, print, printJson, reporting, WrongUsage } from './output.ts';

interface ImportOptions {
  readonly attribution?: string;
  readonly yes: boolean;
  readonly json: boolean;
}

async function importRoads(given: string, { attribution, yes, json }: ImportOptions): Promise<void> {
  const { loadConfig } = await import('../../platform/load-config.ts');
  const { machineTime } = await import('../../platform/machine-time.ts');
  const { BY_COMMAND, RoadsFolder } = await import('../../map/folder.ts');
  const { makeRoadsInProcess } = await import('../../map/process.ts');
  if (attribution !== undefined && attribution.length > MAX_ATTRIBUTION)
    throw new WrongUsage(`The attribution may have at most ${MAX_ATTRIBUTION} characters`);
  const path = resolve(given);
  const file = await ignoreErrno(stat(path), 'ENOENT', 'ENOTDIR');
  if (!file) throw new WrongUsage(`There is no file ${given}`);
  if (file.isDirectory()) throw new WrongUsage(`${given} is a folder: name a file`);
  const folder = new RoadsFolder(loadConfig().DATA_DIR);
  await folder.prepare();
  const id = `${BY_COMMAND}${randomUUID()}`;
  const at = new Date(machineTime()).toISOString();
  const origin = { id, fileName: basename(path), attribution: attribution?.trim() || null, at };
  const onProgress = json ? () => undefined : showProgress();
  try {
    // A signal ends this command, and with it the process; this one is for the service.
    const { signal } = new AbortController();
    const job = { path, target: folder.tilesOf(id), origin };
    const report = await makeRoadsInProcess(job, { onProgress, signal });
    if (!json) tell(report);
    const isApplied = yes || (!json && (await asks('Put these roads on the map? [y/N] ')));
    if (isApplied && !(await folder.apply(id)))
      throw new CommandFailed('The tiles were removed meanwhile: try again');
    if (json) printJson({ applied: isApplied, report });
    else
      print(
        isApplied ? 'The roads are on the map.' : 'Nothing was changed: --yes puts the roads on the map.',
      );
  } finally {
    await rm(folder.tilesOf(id), { force: true });
  }
}

/** Asks at the terminal; without one, the answer is no. */
async function asks(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim());
  } finally {
    terminal.close();
  }
}

/** Shows the progress at a terminal, in whole percents. */
function showProgress(): (share: number) => void {
  let shown = -1;
  return (share) => {
    const percent = Math.floor(share * 100);
    if (!process.stderr.isTTY || percent === shown) return;
    shown = percent;
    process.stderr.write(`\r${percent} %${percent === 100 ? '\n' : ''}`);
  };
}

/** What becomes of features, by the reason. */
const REASONS: Readonly<Record<RoadsLeftOutReason, string>> = {
  NO_GEOMETRY: 'without a geometry',
  POINT: 'points',
  AREA: 'areas; only lines are drawn',
  BROKEN_LINE: 'broken lines: fewer than two positions, or positions that are no numbers',
  BROKEN_RING: 'areas with broken rings: fewer than four positions, or not closed',
  OUTSIDE: 'outside of ±180 and ±85 degrees',
  NOT_A_ROAD: 'no roads, by their properties',
};

function tell(report: RoadsReport): void {
  const { format, projection, features, kept, points, named, classes, leftOut, bounds, tiles, thinnedTiles } =
    report;
  const n = (value: number) => value.toLocaleString('en');
  print(`${format}, ${projection}: ${n(features)} features`);
  print(
    `  ${n(kept)} roads with ${n(points)} points, ${n(named)} of them with a name (${report.nameField ?? 'no property known'})`,
  );
  print(
    `  classes (${report.classField ?? 'no property known'}): ${classes.map(({ roadClass, count }) => `${roadClass} ${n(count)}`).join(', ')}`,
  );
  print(`  from ${bounds.west}, ${bounds.south} to ${bounds.east}, ${bounds.north}`);
  for (const { reason, count, first } of leftOut)
    print(
      `  left out: ${n(count)} ${REASONS[reason]} (${first.length < count ? 'first: ' : ''}${first.join(', ')})`,
    );
  const thinned =
    thinnedTiles > 0 ? `; in ${n(thinnedTiles)} of them the least important roads are left out` : '';
  print(`  ${n(tiles)} tiles, ${inMegabytes(report.bytes)}${thinned}`);
}

async function show({ json }: { readonly json: boolean }): Promise<void> {
  const { loadConfig } = await import('../../platform/load-config.ts');
  const { RoadsFolder } = await import('../../map/folder.ts');
  const config = loadConfig();
  const folder = new RoadsFolder(config.DATA_DIR);
  const found = await folder.current();
  const { version: _, ...current } = found ?? { version: '' };
  if (json) return printJson({ current: found && current, hasBaseMap: config.MAP_PMTILES !== undefined });
  if (!found) return print('There are no roads on the map: gantry map import <file> puts them there.');
  const { fileName, attribution, at, report }: CurrentRoads = found;
  print(`${fileName ?? 'A file without a name'}, ${at.toISOString()}`);
  print(`  ${attribution ?? 'no attribution'}; ${folder.roads}`);
  tell(report);
  if (config.MAP_PMTILES !== undefined)
    print('MAP_PMTILES is set: the console draws that map instead of these roads.');
}

async function remove(): Promise<void> {
  const { loadConfig } = await import('../../platform/load-config.ts');
  const { RoadsFolder } = await import('../../map/folder.ts');
  if (!(await new RoadsFolder(loadConfig().DATA_DIR).remove()))
    throw new CommandFailed('There are no roads on the map');
  print('The roads were taken off the map.');
}

export function addMap(program: Command): void {
  const map = program.command('map').description("A city's own roads on the map of the console.");
  map
    .command('import')
    .description('Read a file with roads, say what it contains, and put them on the map in place of others.')
    .argument(
      '<file>',
      'GeoJSON, also with a feature on each line, GeoPackage, .shp, or a ZIP archive of one of these',
    )
    .option(
      '--attribution <text>',
      'whose data it is, such as "© OpenStreetMap contributors"; the map shows it',
    )
    .option('--yes', 'do not ask', false)
    .option('--json', 'print the report as JSON; with --yes also change the map', false)
    .addHelpText(
      'after',
      `
Coordinates must be longitude and latitude (WGS 84). The tiles are made in DATA_DIR/map of this machine, with names from name,
FULLNAME or the like, and classes from highway (OpenStreetMap), fclass, MTFCC (TIGER), FRC or the like. The service may be running; the
map shows the roads when a page is loaded again. They are not part of backups: keep the file.`,
    )
    .action(reporting({ what: 'Nothing was changed.' }, importRoads));
  map
    .command('show')
    .description('Say which roads are on the map.')
    .option('--json', 'print it as JSON', false)
    .action(reporting({}, show));
  map.command('remove').description('Take the roads off the map.').action(reporting({}, remove));
}
