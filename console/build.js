import { createHash } from 'node:crypto';
import { access, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

// Builds console/dist, which is served to browsers, unless it is up to date. The hash of its sources is stored in the
// folder, so that the check adds only a few milliseconds to a start.

const root = fileURLToPath(new URL('../', import.meta.url));
const dist = join(root, 'console/dist');
const STAMP = '.made-of';

const SOURCES = ['console/src', 'console/public', 'contract/src', 'client/src'];
const FILES = [
  'console/service-worker.js',
  'console/index.html',
  'console/vite.config.ts',
  'console/build.js',
  'package-lock.json',
];

const sourcesHash = async () => {
  const found = await Promise.all(
    SOURCES.map(async (folder) => {
      const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    }),
  );
  const hash = createHash('sha256').update(process.env.GANTRY_API ?? '');
  for (const path of [...FILES.map((file) => join(root, file)), ...found.flat().sort()]) {
    hash
      .update(path.slice(root.length))
      .update('\0')
      .update(await readFile(path));
  }
  return hash.digest('hex');
};

/** Smaller files are not compressed, in bytes: it would hardly reduce their size. */
const WORTH_BYTES = 1_000;

const compress = async (folder) => {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || entry.name.startsWith('.') || !/\.(js|css|html|svg|json|mjs)$/.test(entry.name))
      continue;
    const content = await readFile(path);
    if (content.length < WORTH_BYTES) continue;
    const quality = { [constants.BROTLI_PARAM_QUALITY]: 9 };
    await writeFile(`${path}.br`, brotliCompressSync(content, { params: quality }));
    await writeFile(`${path}.gz`, gzipSync(content, { level: 9 }));
  }
};

/** What the console needs to start and to write things down without a connection, as names or folders of sources. */
const OFFLINE = [
  'index.html',
  'src/app/locale/',
  'src/pages/mine/',
  'src/pages/sign-in/',
  'src/pages/incidents/incident-page.tsx',
  'src/pages/incidents/locale/',
  'src/shared/offline/',
  'src/ui/dialog-frame.tsx',
  'src/ui/menu-list.tsx',
];

/** Writes the service worker, with the files that it keeps and a version that is that of their content. */
const writeServiceWorker = async (folder) => {
  const manifest = JSON.parse(await readFile(join(folder, '.manifest.json'), 'utf8'));
  const files = new Set(['/', '/icon.svg']);
  const add = (name) => {
    const { file, css = [], imports = [] } = manifest[name];
    if (files.has(`/${file}`)) return;
    for (const each of [file, ...css]) files.add(`/${each}`);
    imports.forEach(add);
  };
  Object.keys(manifest)
    .filter((name) => OFFLINE.some((start) => name.startsWith(start)))
    .forEach(add);
  const worker = await readFile(join(root, 'console/service-worker.js'), 'utf8');
  const list = JSON.stringify([...files].sort());
  const parts = [
    worker,
    list,
    ...(await Promise.all(['index.html', 'icon.svg'].map((name) => readFile(join(folder, name))))),
  ];
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  const version = hash.digest('hex').slice(0, 16);
  await writeFile(
    join(folder, 'sw.js'),
    worker.replace('$VERSION', version).replace('$FILES', () => list),
  );
};

/** Removes the output folders of interrupted builds, whose processes no longer exist. */
const removeDrafts = async () => {
  for (const name of await readdir(join(root, 'console'))) {
    const [, pid] = /^dist\.(\d+)$/.exec(name) ?? [];
    if (pid === undefined) continue;
    try {
      process.kill(Number(pid), 0);
    } catch {
      await rm(join(root, 'console', name), { recursive: true, force: true });
    }
  }
};

const hash = await sourcesHash();
const present = await readFile(join(dist, STAMP), 'utf8').catch(() => null);
if (present !== hash) {
  process.stdout.write('Building the console …\n');
  await removeDrafts();
  // Set also if the build is started by a test, for example: the development build of React is larger and slower.
  process.env.NODE_ENV = 'production';
  // Built in a folder of its own and renamed at the end, because several services may start at the same time.
  const draft = `${dist}.${process.pid}`;
  // The service tells by it that a build is at work.
  await mkdir(draft);
  const { build } = await import('vite');
  await build({
    configFile: join(root, 'console/vite.config.ts'),
    build: { outDir: draft },
    logLevel: 'warn',
  });
  await writeServiceWorker(draft);
  await compress(draft);
  await writeFile(join(draft, STAMP), hash);
  await rm(dist, { recursive: true, force: true });
  // Another process may have finished first. Its build has the same content.
  await rename(draft, dist).catch(() => access(dist));
  await rm(draft, { recursive: true, force: true });
  process.stdout.write('The console is built.\n');
}
