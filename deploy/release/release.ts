import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../npm/manifests.ts';
import { dateChangelog, nextVersion, readKey, requireNewer, setVersion, signFiles } from './steps.ts';

// Makes a release: commits and tags the version, builds the packages of it in dist/release with their SBOMs, checksums and a
// signature, and begins the next version. It pushes and publishes nothing. --help describes the options.

const USAGE = `Usage: npm run release -- <version> --key <file> [--dry-run] [--only-packages] [--only-commits]

  --key <file>      private key (Ed25519, PEM) that signs the checksums; kept outside of the repository
  --dry-run         says what would be done, and changes nothing
  --only-commits    commits and tags, and builds no packages
  --only-packages   builds the packages of the commit that is checked out, and commits nothing
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    key: { type: 'string' },
    'dry-run': { type: 'boolean', default: false },
    'only-commits': { type: 'boolean', default: false },
    'only-packages': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const out = join(root, 'dist/release');
const changelog = join(root, 'CHANGELOG.md');
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const fail = (message: string, code = 1): never => {
  process.stderr.write(`release: ${message}\n`);
  process.exit(code);
};
const run = (program: string, args: readonly string[]): void =>
  void execFileSync(program, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

/** Copies the packages and their SBOMs to dist/release, and signs their checksums. */
function collect(keyFile: string): void {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  for (const folder of ['dist/npm', 'dist'])
    for (const name of readdirSync(join(root, folder)))
      if (/\.(tgz|deb|cdx\.json)$/.test(name)) cpSync(join(root, folder, name), join(out, name));
  const names = signFiles(out, readKey(keyFile));
  say(`dist/release: ${names.length} files, SHA256SUMS, SHA256SUMS.sig, release.pub`);
}

function commit(version: string): void {
  const text = readFileSync(changelog, 'utf8');
  writeFileSync(changelog, dateChangelog(text, version, new Date().toISOString().slice(0, 10)));
  setVersion(root, version);
  git('commit', '--quiet', '--all', '--message', `release: ${version}`);
  git('tag', '--annotate', `v${version}`, '--message', `Gantry ${version}`);
  say(`committed and tagged v${version}`);
}

function build(key: string): void {
  for (const folder of ['dist/npm', 'dist/release'])
    rmSync(join(root, folder), { recursive: true, force: true });
  for (const name of readdirSync(join(root, 'dist')).filter((each) => /\.(deb|cdx\.json)$/.test(each)))
    rmSync(join(root, 'dist', name));
  run(process.execPath, ['--import', 'tsx', 'deploy/npm/pack.ts']);
  run(process.execPath, ['--import', 'tsx', 'deploy/debian/build.ts']);
  collect(key);
}

const [version = ''] = positionals;
const { key = '', 'only-commits': onlyCommits, 'only-packages': onlyPackages, 'dry-run': isDryRun } = values;
if (values.help || (positionals.length === 0 && !onlyPackages)) {
  process.stdout.write(USAGE);
  process.exit(values.help ? 0 : 2);
}
try {
  if (!onlyCommits) readKey(key || fail('--key names the private key that signs', 2));
  if (!onlyPackages) {
    const text = readFileSync(changelog, 'utf8');
    requireNewer(version, text);
    dateChangelog(text, version, '');
    if (git('status', '--porcelain') !== '') fail('there are changes that are not committed');
    if (git('tag', '--list', `v${version}`) !== '') fail(`the tag v${version} exists`);
  }
  if (isDryRun) {
    if (!onlyPackages) {
      say(`would date CHANGELOG.md, set ${version} in all manifests, commit, and tag v${version}`);
    }
    if (!onlyCommits)
      say('would build the npm and Debian packages, their SBOMs, SHA256SUMS and SHA256SUMS.sig');
    if (!onlyPackages) say(`would begin ${nextVersion(version)} in a second commit`);
  } else {
    if (!onlyPackages) commit(version);
    // The packages are built while the tagged commit is checked out, so that they say that they are the release.
    if (!onlyCommits) build(key);
    if (!onlyPackages) {
      setVersion(root, nextVersion(version));
      git('commit', '--quiet', '--all', '--message', `release: begin ${nextVersion(version)}`);
      say(`began ${nextVersion(version)}; push with: git push --follow-tags`);
    }
  }
} catch (error) {
  fail(error instanceof Error ? error.message : String(error));
}
