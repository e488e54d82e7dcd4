import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';

/** The maximum size of the compressed scripts that a page may load, without the map and the charts, in bytes. */
const BUDGET = 250_000;

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
}
type Manifest = Readonly<Record<string, Chunk>>;

const console = join(import.meta.dirname, '..');
const dist = join(console, 'dist');
const ENTRY = 'index.html';
const LANGUAGES = ['src/app/locale/en.ts', 'src/app/locale/tr.ts', 'src/app/locale/ar.ts'];
let manifest: Manifest = {};

beforeAll(() => {
  execFileSync(process.execPath, [join(console, 'build.js')]);
  manifest = JSON.parse(readFileSync(join(dist, '.manifest.json'), 'utf8'));
});

/** The given chunks and all chunks that they import statically, directly or indirectly. */
function loadedWith(names: readonly string[], found = new Set<string>()): Set<string> {
  for (const name of names) {
    if (found.has(name)) continue;
    found.add(name);
    loadedWith(manifest[name]?.imports ?? [], found);
  }
  return found;
}

/** The page chunks, each of which is loaded when the page is opened. */
const pages = (): string[] =>
  [...loadedWith([ENTRY])]
    .flatMap((name) => [...(manifest[name]?.dynamicImports ?? [])])
    .filter((name) => name.endsWith('-page.tsx'));

/** The total size with gzip, for browsers that do not accept Brotli. Without TLS, no browser accepts it. */
const compressed = (names: Iterable<string>): number =>
  [...names].reduce(
    (sum, name) => sum + gzipSync(readFileSync(join(dist, manifest[name]?.file ?? '')), { level: 9 }).length,
    0,
  );

describe('the first load', () => {
  it('stays within its budget on every page in every language', () => {
    expect(pages().length).toBeGreaterThan(20);
    const isInside = (page: string) =>
      page.startsWith('src/pages/administration/')
        ? ['src/pages/administration/administration-page.tsx']
        : [];
    const sizes = pages().flatMap((page) =>
      LANGUAGES.map(
        (language) =>
          [
            `${page}, ${language}`,
            compressed(loadedWith([ENTRY, language, page, ...isInside(page)])),
          ] as const,
      ),
    );
    expect(sizes.filter(([, bytes]) => bytes > BUDGET)).toEqual([]);
    // A page that loads almost nothing would mean that this test is wrong.
    expect(Math.min(...sizes.map(([, bytes]) => bytes))).toBeGreaterThan(100_000);
  });

  it('contains neither the map nor charts, dialogs and menus', () => {
    const late = [
      'src/shared/map/vector-map.tsx',
      'src/shared/chart/echarts.ts',
      'src/ui/dialog-frame.tsx',
      'src/ui/menu-list.tsx',
    ];
    expect(late.filter((name) => !manifest[name])).toEqual([]);
    const everyPage = loadedWith([ENTRY, ...LANGUAGES, ...pages()]);
    expect(late.filter((name) => everyPage.has(name))).toEqual([]);
  });
});

describe('the service worker', () => {
  const kept = (): string[] =>
    JSON.parse(/const FILES = (\[.*\]);/.exec(readFileSync(join(dist, 'sw.js'), 'utf8'))?.[1] ?? '[]');
  const fileOf = (name: string) => `/${manifest[name]?.file}`;

  it('keeps what the page of the field needs in every language, and neither the map nor charts', () => {
    const needed = loadedWith([ENTRY, ...LANGUAGES, 'src/pages/mine/mine-page.tsx']);
    expect([...needed].map(fileOf).filter((file) => !kept().includes(file))).toEqual([]);
    const late = ['src/shared/map/vector-map.tsx', 'src/shared/chart/echarts.ts'];
    expect(late.map(fileOf).filter((file) => kept().includes(file))).toEqual([]);
  });

  it('keeps only files that exist, and a style sheet, within a budget for a phone', () => {
    const files = kept().filter((file) => file !== '/');
    expect(files.filter((file) => file.endsWith('.css'))).not.toEqual([]);
    const sizes = files.map((file) => gzipSync(readFileSync(join(dist, file))).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(2 * BUDGET);
  });
});

describe('the built console', () => {
  it('does not contain the library that validates inputs of the service', () => {
    const scripts = readdirSync(join(dist, 'assets')).filter((name) => name.endsWith('.js'));
    const found = scripts.filter((name) =>
      /\b_zod\b|ZodError/.test(readFileSync(join(dist, 'assets', name), 'utf8')),
    );
    expect(found).toEqual([]);
  });
});
