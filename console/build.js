import { createHash } from 'node:crypto';
import { access, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

// Makes console/dist, what browsers load, unless it is there and nothing that it is made of has changed. The hash of all of
// that is kept in the folder itself, so that a start with a current build takes some milliseconds more.

const root = fileURLToPath(new URL('../', import.meta.url));
const dist = join(root, 'console/dist');
const STAMP = '.made-of';

const SOURCES = ['console/src', 'console/public', 'contract/src', 'client/src'];
const FILES = ['console/index.html', 'console/vite.config.ts', 'console/build.js', 'package-lock.json'];

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

/** Below this a compressed file is hardly smaller, in bytes. */
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

/** Removes what builds left behind that were interrupted. */
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
  // Whatever it is called from, such as a test: React has a larger and slower form for development.
  process.env.NODE_ENV = 'production';
  const { build } = await import('vite');
  // Made beside and renamed into place, because several services may be started at once.
  const draft = `${dist}.${process.pid}`;
  await build({
    configFile: join(root, 'console/vite.config.ts'),
    build: { outDir: draft },
    logLevel: 'warn',
  });
  await compress(draft);
  await writeFile(join(draft, STAMP), hash);
  await rm(dist, { recursive: true, force: true });
  // Another one may have been faster; its build is the same.
  await rename(draft, dist).catch(() => access(dist));
  await rm(draft, { recursive: true, force: true });
}
