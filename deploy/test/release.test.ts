import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dateChangelog, nextVersion, readKey, requireNewer, signFiles } from '../release/steps.ts';

// Tests releases in clones of the repository, and the versions that builds give themselves.

const root = fileURLToPath(new URL('../../', import.meta.url));

let folder: string;
let clone: string;
let keyFile: string;

const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.org', ...args], {
    cwd: clone,
    encoding: 'utf8',
  }).trim();
const release = (...args: readonly string[]) =>
  spawnSync(process.execPath, ['--import', 'tsx', 'deploy/release/release.ts', ...args], {
    cwd: clone,
    encoding: 'utf8',
    env: {
      ...process.env,
      GIT_AUTHOR_NAME: 'Test',
      GIT_AUTHOR_EMAIL: 'test@example.org',
      GIT_COMMITTER_NAME: 'Test',
      GIT_COMMITTER_EMAIL: 'test@example.org',
    },
  });
const build = (env: Record<string, string> = {}): { version: string; commit: string; date: string } =>
  JSON.parse(
    execFileSync(process.execPath, ['server/version.js'], {
      cwd: clone,
      encoding: 'utf8',
      env: { ...process.env, ...env },
    }),
  );
const read = (path: string): string => readFileSync(join(clone, path), 'utf8');

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-release-'));
  clone = join(folder, 'clone');
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', '--depth', '1', `file://${root}`, clone]);
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  writeFileSync(join(clone, '.git/info/exclude'), 'node_modules\n');
  keyFile = join(folder, 'release.pem');
  const { privateKey } = generateKeyPairSync('ed25519');
  writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the version of a build', () => {
  it('names the coming release, the time of the commit in UTC, and the commit', () => {
    const { version, commit, date } = build();
    const time = new Date(date).toISOString().replaceAll(/[-:]/g, '').slice(0, 13).toLowerCase();
    const { version: coming } = JSON.parse(read('server/package.json'));
    // Seven characters, or more if they were a number with leading zeros.
    expect(version).toBe(`${coming}-git${time}.${commit.slice(0, /\w+$/.exec(version)?.[0].length)}`);
    expect(version).toMatch(/\.[0-9a-f]{7,40}$/);
    expect(commit).toBe(git('rev-parse', 'HEAD'));
  });

  it('says that files were changed', () => {
    const [before, readme] = [build().version, read('README.md')];
    writeFileSync(join(clone, 'README.md'), `${readme}\n`);
    expect(build().version).toBe(`${before}.changed`);
    writeFileSync(join(clone, 'README.md'), readme);
    expect(build().version).toBe(before);
  });

  it('is that of the environment where there is no repository, as in a container', () => {
    const given = {
      version: '1.2.3-git20260101t0000.abcdef0',
      commit: 'abcdef0',
      date: '2026-01-01T00:00:00Z',
    };
    expect(build({ GANTRY_BUILD: JSON.stringify(given) })).toEqual(given);
  });

  it('is in an archive of the repository', () => {
    const archive = join(folder, 'archive');
    execFileSync('bash', ['-c', `mkdir '${archive}' && git archive HEAD server | tar -x -C '${archive}'`], {
      cwd: clone,
    });
    const text = execFileSync(process.execPath, ['server/version.js'], { cwd: archive, encoding: 'utf8' });
    expect(JSON.parse(text)).toMatchObject({ version: build().version, commit: build().commit });
  });

  it('is older for Debian than the release, and newer than an earlier build', () => {
    const isOlder = (a: string, b: string): boolean =>
      spawnSync('dpkg', ['--compare-versions', a, 'lt', b]).status === 0;
    if (spawnSync('dpkg', ['--version']).status !== 0) return;
    expect(isOlder('0.2.0~git20261126t2145.fffffff', '0.2.0~git20261126t2146.0000000')).toBe(true);
    expect(isOlder('0.2.0~git20261126t2145.2ec4c71', '0.2.0')).toBe(true);
    expect(isOlder('0.1.0', '0.2.0~git20261126t2145.2ec4c71')).toBe(true);
  });
});

describe('a release', () => {
  it('refuses versions that are not newer, and a changelog without news', () => {
    const changelog = '# Changelog\n\n## Unreleased\n\n- New\n\n## 0.2.0 - 2026-01-01\n\n- Old\n';
    expect(() => requireNewer('0.3', changelog)).toThrow('must have the form 1.2.3');
    for (const version of ['0.2.0', '0.1.9'])
      expect(() => requireNewer(version, changelog)).toThrow('newer than 0.2.0');
    for (const version of ['0.2.1', '0.3.0', '1.0.0']) requireNewer(version, changelog);
    expect(dateChangelog(changelog, '0.3.0', '2026-02-03')).toContain(
      '## Unreleased\n\n## 0.3.0 - 2026-02-03\n\n- New\n',
    );
    expect(() => dateChangelog('# C\n\n## Unreleased\n\n## 0.2.0\n\n- Old\n', '0.3.0', '')).toThrow(
      'nothing under',
    );
    expect(nextVersion('0.2.7')).toBe('0.3.0');
  });

  it('says with --dry-run what it would do, and changes nothing', () => {
    const { status, stdout, stderr } = release('0.9.0', '--key', keyFile, '--dry-run');
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain('tag v0.9.0');
    expect(stdout).toContain('would begin 0.10.0');
    expect([git('status', '--porcelain'), git('tag')]).toEqual(['', '']);
    expect(release('0.9.0', '--key', join(folder, 'none.pem'), '--dry-run').status).toBe(1);
    expect(release('0.9.0', '--dry-run').status).toBe(2);
  });

  it('signs the checksums so that sha256sum and openssl verify them, and refuses a changed file', () => {
    const files = join(folder, 'files');
    mkdirSync(files);
    writeFileSync(join(files, 'gantry.tgz'), 'content');
    expect(signFiles(files, readKey(keyFile))).toEqual(['gantry.tgz']);
    const verify = () => [
      spawnSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: files }).status,
      spawnSync(
        'openssl',
        'pkeyutl -verify -pubin -inkey release.pub -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig'.split(' '),
        { cwd: files },
      ).status,
    ];
    expect(verify()).toEqual([0, 0]);
    writeFileSync(join(files, 'gantry.tgz'), 'changed');
    expect(verify()).toEqual([1, 0]);
    writeFileSync(join(files, 'SHA256SUMS'), 'changed');
    expect(verify()).toEqual([1, 1]);
  });

  it('dates the changelog, sets and tags the version, and begins the next one', () => {
    const { status, stderr } = release('0.9.0', '--only-commits');
    expect([status, stderr]).toEqual([0, '']);
    expect(git('log', '-2', '--format=%s').split('\n')).toEqual(['release: begin 0.10.0', 'release: 0.9.0']);
    expect(build().version).toMatch(/^0\.10\.0-git/);
    git('checkout', '--quiet', 'v0.9.0');
    expect(build().version).toMatch(/^0\.9\.0\+git\d{8}t\d{4}\.[0-9a-f]{7,40}$/);
    expect(read('CHANGELOG.md')).toMatch(/^## Unreleased\n\n## 0\.9\.0 - \d{4}-\d\d-\d\d$/m);
    expect(read('package-lock.json')).not.toContain('"@gantry/contract": "0.2.0"');
    expect(read('deploy/helm/gantry/Chart.yaml')).toContain('appVersion: 0.9.0');
    expect(read('client/package.json')).toContain('"@gantry/contract": "0.9.0"');
  });
});
