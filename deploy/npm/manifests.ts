import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// The contents of package.json in the published packages. The files in the repository are for the workspaces.

export const root = fileURLToPath(new URL('../../', import.meta.url));

type Versions = Readonly<Record<string, string>>;

interface Manifest {
  readonly version: string;
  readonly overrides?: Readonly<Record<string, unknown>>;
  readonly engines?: Versions;
  readonly dependencies?: Versions;
}

const read = (folder: string): Manifest =>
  JSON.parse(readFileSync(`${root}${folder}/package.json`, 'utf8')) as Manifest;

const build = execFileSync(process.execPath, [`${root}server/version.js`], { encoding: 'utf8' });

/** The version of the packages: npm ignores what follows `+`, and refuses packages whose dependencies differ in it. */
export const version = (JSON.parse(build) as Manifest).version.replace(/\+.*/, '');

const common = {
  version,
  license: 'Apache-2.0',
  type: 'module',
  engines: read('.').engines,
};

/** The exact versions of the dependencies of the folders, without the packages of this repository. */
function dependenciesOf(...folders: readonly string[]): Versions {
  const all = Object.assign({}, ...folders.map((folder) => read(folder).dependencies)) as Versions;
  const others = Object.entries(all).filter(([name]) => !name.startsWith('@gantry/'));
  return Object.fromEntries(others.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Packages of which the build of the service contains what it needs. */
const BUILT_IN = ['@fastify/swagger-ui'];

const without = (names: readonly string[], versions: Versions): Versions =>
  Object.fromEntries(Object.entries(versions).filter(([name]) => !names.includes(name)));

/**
 * The exact version of a package that only other packages depend on. npm ignores the overrides of an installed package,
 * so the version is a dependency: npm installs it once if it satisfies all other packages.
 */
function pinned(name: string): Versions {
  const pin = read('.').overrides?.[name];
  if (typeof pin !== 'string') throw new Error(`package.json has no override for ${name}`);
  return { [name]: pin };
}

export const manifests = {
  contract: {
    name: '@gantry/contract',
    description: 'The schemas, values and rules of the Gantry API, in zod.',
    ...common,
    sideEffects: false,
    exports: { './*': { types: './dist/*.d.ts', default: './dist/*.js' } },
    files: ['dist'],
    dependencies: dependenciesOf('contract'),
  },
  client: {
    name: '@gantry/client',
    description: 'The typed client of Gantry, a traffic management service.',
    ...common,
    exports: { '.': { types: './dist/client.d.ts', default: './dist/client.js' } },
    files: ['dist'],
    dependencies: { '@gantry/contract': version, ...dependenciesOf('client') },
  },
  service: {
    name: '@gantry/service',
    description:
      'Traffic management service: roadside sensors, the events and violations they report, and the people who act on them.',
    ...common,
    bin: { gantry: './server/bin/gantry.cjs' },
    files: ['server', 'console', 'THIRD-PARTY-NOTICES.md'],
    // Later versions of light-my-request need packages that do not run on Node.js 20.
    dependencies: {
      ...without(
        BUILT_IN,
        dependenciesOf('server', 'device-formats', 'embedded-postgres', 'simulator', 'client'),
      ),
      ...pinned('light-my-request'),
    },
  },
  edge: {
    name: '@gantry/edge',
    description: 'Keeps the events of a roadside device on disk and sends them to Gantry, each exactly once.',
    ...common,
    bin: { 'gantry-edge': './dist/gantry-edge.js' },
    files: ['dist'],
    dependencies: { commander: dependenciesOf('edge').commander ?? '' },
  },
} as const;

export type PackageName = keyof typeof manifests;
