import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// The steps of a release, apart from git and the packages.

const VERSION = /^(\d+)\.(\d+)\.(\d+)$/;

/** The version after a release, of which the builds until the next one are: `0.2.1` → `0.3.0`. */
export function nextVersion(released: string): string {
  const [, major, minor] = VERSION.exec(released) ?? [];
  return `${major}.${Number(minor) + 1}.0`;
}

/** @throws Error when `version` is not of the form 1.2.3, or not newer than all releases of the changelog */
export function requireNewer(version: string, changelog: string): void {
  const parts = (text: string): number[] => text.split('.').map(Number);
  if (!VERSION.test(version)) throw new Error(`The version must have the form 1.2.3, and this is ${version}`);
  const [latest = '0.0.0'] = [...changelog.matchAll(/^## (\d+\.\d+\.\d+)/gm)].map(([, each]) => each);
  const [ours, theirs] = [parts(version), parts(latest)];
  const differs = ours.findIndex((part, index) => part !== theirs[index]);
  if (differs === -1 || (ours[differs] ?? 0) < (theirs[differs] ?? 0))
    throw new Error(`The version must be newer than ${latest}, the latest of CHANGELOG.md`);
}

/**
 * Makes a dated section of a release out of the section "Unreleased", which stays, empty.
 * @param date - as `2026-11-26`
 * @throws Error when nothing is unreleased
 */
export function dateChangelog(changelog: string, version: string, date: string): string {
  const [, unreleased] = /^## Unreleased\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(changelog) ?? [];
  if (!unreleased?.trim()) throw new Error('CHANGELOG.md has nothing under "Unreleased"');
  return changelog.replace(/^## Unreleased\n/m, `## Unreleased\n\n## ${version} - ${date}\n`);
}

/** Writes a version into all files that name the one of this repository, and returns their paths. */
export function setVersion(root: string, version: string): string[] {
  const changed: string[] = [];
  const rewrite = (path: string, change: (text: string) => string): void => {
    const before = readFileSync(join(root, path), 'utf8');
    const after = change(before);
    if (after === before) return;
    writeFileSync(join(root, path), after);
    changed.push(path);
  };
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { workspaces: string[] };
  const folders = readdirSync(root).filter((name) => manifest.workspaces.includes(name));
  for (const folder of ['.', ...folders]) {
    rewrite(join(folder, 'package.json'), (text) => withVersion(text, version));
  }
  rewrite('package-lock.json', (text) => {
    const lock = JSON.parse(text) as { version: string; packages: Record<string, Record<string, unknown>> };
    lock.version = version;
    for (const [path, each] of Object.entries(lock.packages)) {
      if (path === '' || folders.includes(path))
        lock.packages[path] = JSON.parse(withVersion(JSON.stringify(each), version));
    }
    return `${JSON.stringify(lock, null, 2)}\n`;
  });
  rewrite('deploy/helm/gantry/Chart.yaml', (text) =>
    text.replaceAll(/^(version|appVersion): .*$/gm, `$1: ${version}`),
  );
  rewrite('deploy/docker/compose.yml', (text) => text.replace(/(image: gantry:).*/, `$1${version}`));
  return changed;
}

/** A manifest with its version, and those of the packages of this repository among its dependencies, replaced. */
function withVersion(text: string, version: string): string {
  return text
    .replace(/("version":\s*)"[^"]*"/, `$1"${version}"`)
    .replaceAll(/("@gantry\/[\w-]+":\s*)"[^"]*"/g, `$1"${version}"`);
}

/** The key that signs a release. @throws Error when it cannot be read, or is of another kind */
export function readKey(path: string): KeyObject {
  const key = createPrivateKey(readFileSync(path));
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`${path} must be an Ed25519 key`);
  return key;
}

/**
 * Writes SHA256SUMS of all files of a folder, its signature SHA256SUMS.sig, and the public key release.pub.
 * @returns the names of the files
 */
export function signFiles(folder: string, key: KeyObject): string[] {
  const names = readdirSync(folder).sort();
  const sumOf = (name: string): string =>
    createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
  const sums = Buffer.from(names.map((name) => `${sumOf(name)}  ${name}\n`).join(''));
  writeFileSync(join(folder, 'SHA256SUMS'), sums);
  writeFileSync(join(folder, 'SHA256SUMS.sig'), sign(null, sums, key));
  writeFileSync(join(folder, 'release.pub'), createPublicKey(key).export({ type: 'spki', format: 'pem' }));
  return names;
}
