import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, version } from '../npm/manifests.ts';
import { noticesPage } from '../npm/notices.ts';
import { describeInstallation } from '../npm/sbom.ts';

// Makes dist/gantry_<version>_<architecture>.deb from the npm package: the service with its dependencies in /usr/lib/gantry,
// and Node.js, because that of Debian 12 is too old. DEB_VERSION replaces the version, for testing upgrades.

/** The version of Node.js in the package. It comes from the npm registry, like everything else. */
const NODE = '24.21.0';

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
const architecture = architectures[process.arch];
if (!architecture) throw new Error(`There is no Debian package for ${process.arch}`);

/** Debian puts `~` before what makes a version older than the release: `0.2.0~git20261126t2145.2ec4c71`. */
const debVersion = process.env.DEB_VERSION ?? version.replace('-', '~');
const here = join(root, 'deploy/debian');
const stage = join(root, 'dist/deb');
const lib = join(stage, 'usr/lib/gantry');
const doc = join(stage, 'usr/share/doc/gantry');

const run = (program: string, args: readonly string[], cwd = root): void => {
  execFileSync(program, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
};
const put = (from: string, to: string, mode: string): void => run('install', ['-D', '-m', mode, from, to]);

const tarball = join(root, `dist/npm/gantry-service-${version}.tgz`);
if (!existsSync(tarball)) run(process.execPath, ['--import', 'tsx', 'deploy/npm/pack.ts']);

rmSync(stage, { recursive: true, force: true });
mkdirSync(lib, { recursive: true });
writeFileSync(join(lib, 'package.json'), JSON.stringify({ name: 'gantry-debian', version, private: true }));
run(
  'npm',
  [
    'install',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    // Leaves out the TypeScript compiler, a peer dependency that is needed for types only.
    '--omit=peer',
    tarball,
    `node-own@npm:node-linux-${process.arch}@${NODE}`,
  ],
  lib,
);
put(join(lib, 'node_modules/node-own/bin/node'), join(lib, 'bin/node'), '0755');
put(join(lib, 'node_modules/node-own/LICENSE'), join(doc, 'LICENSE.node'), '0644');
const deb = `gantry_${debVersion}_${architecture}.deb`;
const sbom = describeInstallation(lib);
mkdirSync(doc, { recursive: true });
writeFileSync(join(doc, 'sbom.cdx.json'), sbom);
writeFileSync(join(root, 'dist', deb.replace(/deb$/, 'cdx.json')), sbom);
for (const name of ['node-own', '.bin']) rmSync(join(lib, 'node_modules', name), { recursive: true });
for (const name of ['package.json', 'package-lock.json', 'node_modules/.package-lock.json'])
  rmSync(join(lib, name));

put(join(here, 'gantry.sh'), join(stage, 'usr/bin/gantry'), '0755');
put(join(here, 'gantry.service'), join(stage, 'usr/lib/systemd/system/gantry.service'), '0644');
put(join(here, 'gantry.env'), join(stage, 'etc/gantry/gantry.env'), '0640');
for (const name of ['README.md', 'CHANGELOG.md', 'LICENSE']) put(join(root, name), join(doc, name), '0644');
for (const name of readdirSync(join(root, 'docs')))
  if (name.endsWith('.md')) put(join(root, 'docs', name), join(doc, name), '0644');
writeFileSync(join(doc, 'THIRD-PARTY-NOTICES.md'), noticesPage());
writeFileSync(
  join(doc, 'copyright'),
  'Gantry is under the Apache License 2.0 (LICENSE). The licences of its parts are in THIRD-PARTY-NOTICES.md and LICENSE.node.\n',
);
for (const folder of ['prometheus', 'grafana', 'proxy']) {
  const from = join(root, 'deploy', folder);
  if (existsSync(from)) cpSync(from, join(doc, 'examples', folder), { recursive: true });
}

const control = join(stage, 'DEBIAN');
for (const name of ['postinst', 'prerm', 'postrm']) put(join(here, name), join(control, name), '0755');
writeFileSync(join(control, 'conffiles'), '/etc/gantry/gantry.env\n');

const kilobytes = execFileSync('du', ['-sk', join(stage, 'usr')], { encoding: 'utf8' }).split('\t')[0];
writeFileSync(
  join(control, 'control'),
  `Package: gantry
Version: ${debVersion}
Architecture: ${architecture}
Maintainer: The Gantry maintainers <maintainers@gantry.invalid>
Installed-Size: ${kilobytes}
Depends: adduser, libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 10), util-linux
Section: net
Priority: optional
Description: traffic management service
 Roadside sensors, the events and violations they report, and the people who
 act on them. Contains the service with an embedded PostgreSQL, the web console
 and the command gantry.
`,
);
run('chmod', ['-R', 'u=rwX,go=rX', join(stage, 'usr')]);
run('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z6', '--build', stage, join(root, 'dist', deb)]);
rmSync(stage, { recursive: true });
process.stdout.write(`dist/${deb}\n`);
