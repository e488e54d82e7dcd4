import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { configKeys } from '../../server/src/platform/config.ts';
import { commandsOf } from '../walk/commands.ts';
import { PAGES, WAYS } from '../walk/ways.ts';

// Checks the files in deploy/ as far as possible without the programs that use them, such as Docker and Helm.

const deploy = fileURLToPath(new URL('../', import.meta.url));
const read = (path: string): string => readFileSync(`${deploy}${path}`, 'utf8');

/** The names that are not settings of this version. */
const unknownSettings = (names: Iterable<string>): string[] =>
  [...names].filter((name) => !Object.hasOwn(configKeys, name));

describe('the container', () => {
  it('is made of settings that exist, and of the steps that it needs', () => {
    const dockerfile = read('docker/Dockerfile');
    const [, env = ''] = /^ENV (.*)$/m.exec(dockerfile) ?? [];
    expect(unknownSettings([...env.matchAll(/(\w+)=/g)].map(([, name]) => name ?? ''))).toEqual([]);
    expect(dockerfile).toMatch(/^USER node$/m);
    expect(dockerfile).toMatch(/^HEALTHCHECK /m);
  });

  it('is described by a compose file with a database that becomes healthy first', () => {
    const { services, volumes } = parse(read('docker/compose.yml'));
    expect(unknownSettings(Object.keys(services.gantry.environment))).toEqual([]);
    expect(services.gantry).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    expect(services.gantry.depends_on.postgres.condition).toBe('service_healthy');
    expect(services.postgres.image).toBe('postgres:18');
    const settings = services.postgres.command.filter((each: string) => each.includes('='));
    expect(settings.length).toBeGreaterThan(0);
    for (const setting of settings)
      expect(read('../docs/run.md')).toContain(`| \`${setting.split('=')[0]}\` |`);
    const mounted = [...services.gantry.volumes, ...services.postgres.volumes].map(
      (each: string) => each.split(':')[0],
    );
    expect(Object.keys(volumes).sort()).toEqual(mounted.sort());
  });
});

describe('the Helm chart', () => {
  const values = parse(read('helm/gantry/values.yaml'));
  const fits = new Ajv({ strictTypes: false }).compile(JSON.parse(read('helm/gantry/values.schema.json')));
  const templates = readdirSync(`${deploy}helm/gantry/templates`).map((name) => ({
    name,
    text: read(`helm/gantry/templates/${name}`),
  }));

  it('has values that fit their schema, which refuses others', () => {
    expect(fits(values), JSON.stringify(fits.errors)).toBe(true);
    expect(unknownSettings(Object.keys(values.settings))).toEqual([]);
    for (const wrong of [
      { replicas: 0 },
      { replica: 1 },
      { settings: { DRAIN_SECONDS: 10 } },
      { settings: { JWT_SECRET: 'in plain sight' } },
      { persistence: { size: '20' } },
    ]) {
      expect([wrong, fits({ ...values, ...wrong })]).toEqual([wrong, false]);
    }
  });

  it('has templates that use only values that exist, and that are YAML without their actions', () => {
    for (const { name, text } of templates) {
      for (const [, path = ''] of text.matchAll(/\.Values((?:\.\w+)+)/g)) {
        const found = path
          .slice(1)
          .split('.')
          .reduce((at: Record<string, unknown> | undefined, key) => at?.[key] as never, values);
        expect([name, path, found !== undefined]).toEqual([name, path, true]);
      }
      if (name.endsWith('.tpl')) continue;
      const plain = text
        .replaceAll(/^\s*\{\{-? (?:if|with|range|end)\b.*\}\}\n/gm, '')
        .replaceAll(/\{\{-? (?:toYaml|include)[^}]*nindent[^}]*\}\}/g, '{ a: b }')
        .replaceAll(/\{\{[^}]*\}\}/g, 'x');
      for (const document of parseAllDocuments(plain)) expect([name, document.errors]).toEqual([name, []]);
      const count = (action: RegExp): number => text.match(action)?.length ?? 0;
      expect(count(/\{\{-? (?:if|with|range)\b/g)).toBe(count(/\{\{-? end\b/g));
    }
  });
});

describe('the documents', () => {
  const repository = fileURLToPath(new URL('../../', import.meta.url));
  const tracked = execFileSync('git', ['ls-files'], { cwd: repository, encoding: 'utf8' })
    .trim()
    .split('\n')
    .filter((path) => existsSync(join(repository, path)));
  const textOf = (path: string): string => readFileSync(join(repository, path), 'utf8');
  /** The anchors of a document, as GitHub makes them of its headings. */
  const anchorsOf = (path: string): string[] =>
    [...textOf(path).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{Letter}\p{Number}\s_-]/gu, '')
        .replaceAll(/\s/g, '-'),
    );
  const isBroken = (path: string, anchor: string | undefined): boolean =>
    !existsSync(join(repository, path)) ||
    (anchor !== undefined && path.endsWith('.md') && !anchorsOf(path).includes(anchor));

  it('link to files and headings that exist', () => {
    const broken = tracked
      .filter((path) => path.endsWith('.md'))
      .flatMap((path) =>
        [...textOf(path).matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
          .filter(([, to, anchor]) => isBroken(to ? join(dirname(path), to) : path, anchor))
          .map(([link]) => `${path}: ${link}`),
      );
    expect(broken).toEqual([]);
  });

  it('exist where code, alerts and settings name them', () => {
    const broken = tracked
      .filter((path) => /\.(?:[cm]?[jt]sx?|ya?ml|sh|env|service|json)$|Dockerfile$/.test(path))
      .flatMap((path) =>
        [...textOf(path).matchAll(/(?<![\w./])(docs\/[\w./-]+\.md)(?:#([\w-]+))?/g)]
          .filter(([, to = '', anchor]) => isBroken(to, anchor))
          .map(([name]) => `${path}: ${name}`),
      );
    expect(broken).toEqual([]);
  });
});

describe('npm run walk:docs', () => {
  it.each(PAGES)('knows how each command of %s is tried', (page) => {
    const { commands } = commandsOf(read(`../${page}`));
    expect(commands.filter((command) => !WAYS.some(([pattern]) => pattern.test(command)))).toEqual([]);
  });
});

describe('the Debian package', () => {
  it('has scripts without errors of syntax, and settings that exist', () => {
    for (const name of ['gantry.sh', 'postinst', 'prerm', 'postrm']) {
      execFileSync('sh', ['-n', `${deploy}debian/${name}`]);
    }
    for (const name of ['debian/test.sh', 'debian/test-inside.sh', 'proxy/test.sh']) {
      execFileSync('bash', ['-n', `${deploy}${name}`]);
    }
    const names = [...read('debian/gantry.env').matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name ?? '');
    expect(names.length).toBeGreaterThan(4);
    expect(unknownSettings(names)).toEqual([]);
  });

  it.skipIf(spawnSync('systemd-analyze', ['--version']).status !== 0)(
    'has a unit that exposes little (skipped where systemd-analyze is missing)',
    () => {
      const answer = spawnSync('systemd-analyze', [
        'security',
        '--offline=true',
        '--threshold=25',
        `${deploy}debian/gantry.service`,
      ]);
      expect(answer.status, String(answer.stdout)).toBe(0);
      expect(read('debian/gantry.service')).toMatch(/^KillMode=mixed$/m);
    },
  );
});
