import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

// Prints the size and the shape of the code: files, lines, small files, cycles between the modules of the console, long
// functions. Lines are counted as `wc -l` does; tests are left out. A module of the server is a folder, or a single file,
// directly under `src`; one of the console is the layer `ui` or `app`, or a folder in `shared` or `pages`.

const root = fileURLToPath(new URL('../../', import.meta.url));
const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((name) => name !== '');

interface Source {
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  /** The imported files of the repository. */
  readonly imports: readonly string[];
}

const IMPORT = /(?:^(?:import|export)\s[^'";]*?from\s+|^import\s+|\bimport\()'([^']+)'/gm;

const sourcesUnder = (folder: string): Source[] =>
  tracked
    .filter((path) => path.startsWith(folder) && /\.tsx?$/.test(path))
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      const imports = [...text.matchAll(IMPORT)]
        .map(([, target = '']) => target)
        .filter((target) => target.startsWith('.'))
        .map((target) => normalize(join(dirname(path), target)));
      return { path, text, lines: text.split('\n').length - 1, imports };
    });

const server = sourcesUnder('server/src/');
const console = sourcesUnder('console/src/');

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
const moduleOf = (path: string): string => {
  const [workspace, , folder = '', inside] = path.split('/');
  const hasModules = workspace === 'console' && ['shared', 'pages'].includes(folder);
  return hasModules ? `${folder}/${inside}` : folder;
};
const modulesOf = (sources: readonly Source[]): number =>
  new Set(sources.map(({ path }) => moduleOf(path))).size;

/** The files of fewer than 40 lines that exactly one other file imports. */
function smallFiles(sources: readonly Source[]): string[] {
  const importers = new Map<string, number>();
  for (const { imports } of sources)
    for (const each of new Set(imports)) importers.set(each, (importers.get(each) ?? 0) + 1);
  return sources.filter(({ path, lines }) => lines < 40 && importers.get(path) === 1).map(({ path }) => path);
}

/** The modules that each module imports. */
function arrowsBetween(sources: readonly Source[]): ReadonlyMap<string, ReadonlySet<string>> {
  const arrows = new Map<string, Set<string>>();
  for (const { path, imports } of sources)
    for (const each of imports) {
      const [from, to] = [moduleOf(path), moduleOf(each)];
      if (from !== to) arrows.set(from, (arrows.get(from) ?? new Set()).add(to));
    }
  return arrows;
}

/** Everything that can be reached from a module along imports. */
function reachableFrom(start: string, arrows: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const found = new Set<string>();
  const visit = (from: string): void => {
    for (const to of arrows.get(from) ?? []) {
      if (found.has(to)) continue;
      found.add(to);
      visit(to);
    }
  };
  visit(start);
  return found;
}

function cyclesBetween(sources: readonly Source[]): { inCycles: number; pairs: number } {
  const arrows = arrowsBetween(sources);
  const names = [...arrows.keys()];
  const backOf = (name: string): string[] =>
    [...(arrows.get(name) ?? [])].filter((to) => name < to && arrows.get(to)?.has(name));
  return {
    inCycles: names.filter((name) => reachableFrom(name, arrows).has(name)).length,
    pairs: names.flatMap(backOf).length,
  };
}

/** Functions of more than 100 lines, with their places. */
function longFunctions({ path, text }: Source): string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const first = file.getLineAndCharacterOfPosition(node.getStart()).line;
      const length = file.getLineAndCharacterOfPosition(node.end).line - first + 1;
      if (length > 100) found.push(`${path}:${first + 1} (${length})`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

const packages = [
  'contract',
  'device-formats',
  'embedded-postgres',
  'spool',
  'client',
  'edge',
  'simulator',
  'bench',
].flatMap((name) => sourcesUnder(`${name}/src/`));
const all = [...server, ...console, ...packages];
const long = all.flatMap(longFunctions);
const small = [...smallFiles(server), ...smallFiles(console)];
const cycles = cyclesBetween(console);
const distributed = server.filter(({ text }) => /isDistributed|distribut|\bCitus\b/.test(text));
const linesOf = (sources: readonly Source[]): number[] => sources.map(({ lines }) => lines);

const rows: readonly (readonly [string, string | number])[] = [
  ['server/src: files', server.length],
  ['server/src: lines', sum(linesOf(server))],
  ['server/src: modules', modulesOf(server)],
  ['server/src: median lines of a file', median(linesOf(server))],
  ['console/src: files', console.length],
  ['console/src: lines', sum(linesOf(console))],
  ['console/src: median lines of a file', median(linesOf(console))],
  ['console/src: modules', modulesOf(console)],
  ['console/src: modules in cycles', cycles.inCycles],
  ['console/src: pairs of modules that import each other', cycles.pairs],
  ['files under 40 lines with one importer', small.length],
  ['functions over 100 lines', long.length],
  ['server/src: files that mention distribution', distributed.length],
  ['tracked files, MB', (sum(tracked.map((name) => statSync(join(root, name)).size)) / 1e6).toFixed(1)],
];
for (const [what, figure] of rows) process.stdout.write(`${String(figure).padStart(7)}  ${what}\n`);
if (process.argv.includes('--names'))
  process.stdout.write(`\n${[...small, ...long, ...distributed.map(({ path }) => path)].join('\n')}\n`);
