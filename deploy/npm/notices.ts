import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './manifests.ts';

// The notices of everything that the packages of Gantry contain or install, from the lock file and node_modules.

interface LockEntry {
  readonly version?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly os?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}
type Lock = Readonly<Record<string, LockEntry>>;

/** The folders of the repository whose dependencies users get; what only builds and tests need is left out. */
const SHIPPED = [
  'server',
  'contract',
  'device-formats',
  'embedded-postgres',
  'client',
  'console',
  'simulator',
  'edge',
];

/** Tools among the dependencies of the console: they build it and are not part of it. */
const TOOLS = ['vite', '@vitejs/plugin-react', '@tailwindcss/vite', 'tsx', 'esbuild'];

/** The entry that a package finds when it imports another one. */
function resolve(lock: Lock, from: string, name: string): string | null {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/')))) {
    const path = `${folder === '' || folder.endsWith('/') ? folder : `${folder}/`}node_modules/${name}`;
    if (lock[path]) return path;
    if (folder === '') return null;
    if (!folder.includes('node_modules/')) folder = '';
  }
}

function shippedPackages(lock: Lock): ReadonlyMap<string, LockEntry> {
  const found = new Map<string, LockEntry>();
  const visit = (from: string): void => {
    const entry = lock[from];
    const wanted = { ...entry?.dependencies, ...entry?.optionalDependencies };
    for (const name of Object.keys(wanted)) {
      if (TOOLS.includes(name)) continue;
      const path = resolve(lock, from, name);
      const next = path === null ? undefined : lock[path];
      if (path === null || !next || next.link || found.has(path)) continue;
      found.set(path, next);
      visit(path);
    }
  };
  for (const folder of SHIPPED) visit(folder);
  return found;
}

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice|ofl)(?:[-.].*)?$/i;

/** The licence texts in the package; empty for packages of one platform, which are not installed everywhere. */
function textOf(path: string, { os }: LockEntry): string {
  const folder = join(root, path);
  if (os || !existsSync(folder)) return '';
  const names = readdirSync(folder).filter(
    (name) => LICENCE_FILE.test(name) && !/\.(js|json|ts)$/.test(name),
  );
  const texts = names.sort().map((name) => readFileSync(join(folder, name), 'utf8').trim());
  return texts
    .join('\n\n')
    .replaceAll('\r\n', '\n')
    .replace(/[ \t]+$/gm, '');
}

/** The text of THIRD-PARTY-NOTICES.md in the packages. */
export function noticesPage(): string {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Lock;
  };
  const byText = new Map<string, { names: string[]; licence: string }>();
  const rows: string[] = [];
  const shipped = [...shippedPackages(packages)].map(([path, entry]) => ({
    path,
    entry,
    name: `${path.slice(path.lastIndexOf('node_modules/') + 13)} ${entry.version}`,
  }));
  shipped.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { path, entry, name } of shipped) {
    const licence = entry.license ?? 'see below';
    const row = `| ${name} | ${licence} |`;
    if (rows.at(-1) !== row) rows.push(row);
    const text = textOf(path, entry);
    if (text === '') continue;
    const same = byText.get(text) ?? { names: [], licence };
    if (!same.names.includes(name)) same.names.push(name);
    byText.set(text, same);
  }
  const texts = [...byText].map(
    ([text, { names }]) => `### ${names.join(', ')}\n\n\`\`\`\`text\n${text}\n\`\`\`\`\n`,
  );
  return `# Third-party notices

Gantry is licensed under the Apache License 2.0 (LICENSE). Its packages contain or install the following works of others, among them
the fonts DejaVu, Noto Emoji and Unifont (reports), MapLibre GL, Protomaps basemaps and outlines of countries from Natural Earth, which is
in the public domain (maps of the console), Swagger UI (Apache License 2.0, in @fastify/swagger-ui), and PostgreSQL (embedded database).

| Package | Licence |
|---|---|
${rows.join('\n')}

## Licence texts

${texts.join('\n')}`;
}
