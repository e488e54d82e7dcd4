import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { manifests, type PackageName, root, version } from './manifests.ts';
import { noticesPage } from './notices.ts';
import { describeInstallation } from './sbom.ts';

// Makes dist/npm/*.tgz: the packages that are published, in plain JavaScript, with types.

const out = join(root, 'dist/npm');
const compiled = join(out, 'compiled');

const run = (program: string, args: readonly string[], cwd = root): string =>
  execFileSync(program, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  });

/** An import of a source file in a declaration. It is replaced, because the packages do not contain the sources. */
const SOURCE = /((?:from |import\()['"])(\.[^'"]+)\.ts(['"])/g;

/** Compiles the contract, the client, and the router of the server, from whose type that of the client is derived. */
function compile(): void {
  const config = {
    extends: relative(out, join(root, 'tsconfig.json')),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      rootDir: root,
      outDir: compiled,
    },
    include: ['contract/src', 'client/src', 'server/src/api/router.ts'].map((path) => join(root, path)),
  };
  const path = join(out, 'tsconfig.json');
  writeFileSync(path, JSON.stringify(config));
  run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', path]);
}

function copyCompiled(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(join(compiled, from))) {
    const text = readFileSync(join(compiled, from, name), 'utf8');
    writeFileSync(join(to, name), name.endsWith('.d.ts') ? text.replaceAll(SOURCE, '$1$2.js$3') : text);
  }
}

/** Types of the server that a client does not need. Without them, the declaration does not depend on the server. */
const OF_THE_SERVER =
  /import\("\.[^"]*"\)\.(?:RequestContext|ProcedureMeta)<import\("\.\/context\.(?:ts|js)"\)\.AppContext>/g;

function routerDeclaration(): string {
  const text = readFileSync(join(compiled, 'server/src/api/router.d.ts'), 'utf8')
    .replaceAll(OF_THE_SERVER, 'object')
    .replaceAll(/import\("\.\.\/rpc\/messages\.ts"\)/g, 'import("./messages.js")');
  const left = text
    .match(/(?:import\(|from )['"]\.[^'"]*['"]/g)
    ?.filter((each) => !each.includes('./messages.js'));
  if (left && left.length > 0)
    throw new Error(`The type of the API refers to the server: ${[...new Set(left)]}`);
  return text;
}

/** Fills the folder of each package, except for package.json, README.md and LICENSE. */
const contents: Readonly<Record<PackageName, (folder: string) => unknown>> = {
  contract: (folder) => copyCompiled('contract/src', join(folder, 'dist')),
  client(folder) {
    const dist = join(folder, 'dist');
    copyCompiled('client/src', dist);
    for (const name of readdirSync(dist).filter((each) => each.endsWith('.d.ts'))) {
      const text = readFileSync(join(dist, name), 'utf8').replaceAll('@gantry/server/router', './router.js');
      // The declarations of tRPC use Disposable, which is not among the default libraries of TypeScript.
      const needs = name === 'client.d.ts' ? '/// <reference lib="esnext.disposable" />\n' : '';
      writeFileSync(join(dist, name), needs + text);
    }
    writeFileSync(join(dist, 'router.d.ts'), routerDeclaration());
    const messages = readFileSync(join(compiled, 'server/src/rpc/messages.d.ts'), 'utf8');
    writeFileSync(join(dist, 'messages.d.ts'), messages.replaceAll(SOURCE, '$1$2.js$3'));
  },
  async service(folder) {
    await import(pathToFileURL(join(root, 'server/build.js')).href);
    await import(pathToFileURL(join(root, 'console/build.js')).href);
    // The folders are the same as in the repository, because the programs find files by relative paths.
    for (const path of ['server/bin', 'server/dist', 'server/migrations', 'console/dist']) {
      cpSync(join(root, path), join(folder, path), { recursive: true });
    }
    const { name, version, type } = { name: '@gantry/server', ...pick(manifests.service) };
    writeFileSync(join(folder, 'server/package.json'), JSON.stringify({ name, version, type }));
    writeFileSync(join(folder, 'THIRD-PARTY-NOTICES.md'), noticesPage());
  },
  edge: (folder) =>
    build({
      absWorkingDir: root,
      entryPoints: { 'gantry-edge': 'edge/src/main.ts' },
      outdir: join(folder, 'dist'),
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'esm',
      packages: 'external',
      alias: {
        '@gantry/spool': './spool/src/spool.ts',
        '@gantry/spool/segment': './spool/src/segment.ts',
      },
      banner: { js: '#!/usr/bin/env node' },
      logLevel: 'warning',
    }),
};

function pick({ version, type }: { readonly version: string; readonly type: string }) {
  return { version, type };
}

/**
 * The README of a package. That of the client also contains client/README.md, without its links to files of the repository,
 * which the package does not contain.
 */
function readmeOf(name: PackageName): string {
  const readme = readFileSync(join(root, `deploy/npm/readme/${name}.md`), 'utf8');
  if (name !== 'client') return readme;
  const guide = readFileSync(join(root, 'client/README.md'), 'utf8');
  return readme + guide.replace(/^# .*\n/, '').replaceAll(/\[([^\]]+)\]\(\.\.\/[^)]+\)/g, '$1');
}

/** The SBOM (CycloneDX) of a package and everything that npm installs with it. */
function sbomOf(tarball: string): string {
  const temporary = mkdtempSync(join(tmpdir(), 'gantry-sbom-'));
  const folder = join(temporary, 'installation');
  mkdirSync(folder);
  try {
    // npm describes an installation, which must have a name and a version.
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({ name: 'installation', version, private: true }),
    );
    // The client needs the contract, which is made before it and is in no registry.
    const tarballs = readdirSync(out).filter(
      (name) => name === tarball || name.startsWith('gantry-contract-'),
    );
    const needed = tarball.startsWith('gantry-client-') ? tarballs : [tarball];
    const options = ['--package-lock-only', '--omit=peer', '--no-audit', '--no-fund', '--loglevel=error'];
    run(
      'npm',
      [
        'install',
        ...options,
        ...needed.filter((name) => name.endsWith('.tgz')).map((name) => join(out, name)),
      ],
      folder,
    );
    return describeInstallation(folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
compile();
for (const name of Object.keys(manifests) as PackageName[]) {
  const folder = join(out, name);
  mkdirSync(folder);
  await contents[name](folder);
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifests[name], null, 2)}\n`);
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'README.md'), readmeOf(name));
  const made = run('npm', ['pack', '--silent', '--pack-destination', out], folder).trim();
  const tarball = made.split('\n').at(-1) ?? '';
  writeFileSync(join(out, tarball.replace(/tgz$/, 'cdx.json')), sbomOf(tarball));
  process.stdout.write(`dist/npm/${tarball}\n`);
}
rmSync(compiled, { recursive: true });
