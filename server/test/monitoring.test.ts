import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { createMetrics } from '../src/platform/metrics.ts';
import { eventually, sharedGantry, startGantry } from './harness.ts';

// The example alerts and the dashboard in deploy/, compared with what a running service reports.

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8');

const alerts = read('deploy/prometheus/gantry-alerts.yml');
const dashboard = read('deploy/grafana/gantry.json');
const promtool = spawnSync('promtool', ['--version']).status === 0;

/** Names of metrics in PromQL: of the service, and of its process. */
const metricsIn = (text: string): ReadonlySet<string> =>
  new Set(text.match(/\b(?:gantry|process|nodejs)_[a-z0-9_]+(?<!_)\b/g));

const backups = await mkdtemp(join(tmpdir(), 'gantry-monitored-'));
const gantry = await sharedGantry({
  config: { BACKUP_DIR: backups },
  overrides: { timings: { countForMetricsMs: 50 } },
});
afterAll(async () => {
  await rm(backups, { recursive: true });
});

describe('the example alerts and the dashboard', () => {
  it('use only metrics that a running service reports', async () => {
    await gantry.ingest(await gantry.registerSensor());
    const reported = async (): Promise<string> => (await gantry.fetch('/metrics')).body;
    const text = await eventually(reported, (body) => body.includes('gantry_sensors{'));
    const used = [...metricsIn(alerts), ...metricsIn(dashboard)];
    expect(used.length).toBeGreaterThan(30);
    const known = (name: string): boolean =>
      text.includes(`# TYPE ${name} `) || new RegExp(`^${name}[{ ]`, 'm').test(text);
    expect(used.filter((name) => !known(name))).toEqual([]);
  });

  it('can tell that no event arrives after a start, and scrape the usual port', async () => {
    const events = createMetrics().registry.getSingleMetricAsString('gantry_events_total');
    expect(await events).toContain('gantry_events_total{outcome="stored"} 0');
    const [, port] = /^#PORT=(\d+)$/m.exec(read('.env.example')) ?? [];
    expect(read('deploy/prometheus/prometheus.yml')).toContain(`['127.0.0.1:${port}']`);
  });

  it('count repeated ids with other content apart from repeated events', async () => {
    const fields = {
      apiKey: await gantry.registerSensor(),
      eventType: 'SPEED_DETECTION',
      idempotencyKey: 'counted',
      timestamp: new Date().toISOString(),
    };
    const count = async (outcome: string): Promise<number> => {
      const text: string = (await gantry.fetch('/metrics')).body;
      return Number(new RegExp(`^gantry_events_total{outcome="${outcome}"} (\\d+)$`, 'm').exec(text)?.[1]);
    };
    await gantry.ok('events.ingest', { ...fields, vehicleSpeed: 40 });
    const [duplicates, conflicts] = [await count('duplicate'), await count('conflict')];
    await gantry.ok('events.ingest', { ...fields, vehicleSpeed: 40 });
    expect([await count('duplicate'), await count('conflict')]).toEqual([duplicates + 1, conflicts]);
    expect((await gantry.call('events.ingest', { ...fields, vehicleSpeed: 41 })).status).toBe(409);
    expect([await count('duplicate'), await count('conflict')]).toEqual([duplicates + 1, conflicts + 1]);
  });

  it('have an entry in the runbook for every alert, and no other', () => {
    const names = [...alerts.matchAll(/alert: (\w+)/g)].map(([, name]) => name ?? '');
    expect(names.length).toBeGreaterThan(10);
    for (const name of names) expect(alerts).toContain(`docs/runbook.md#${name.toLowerCase()}'`);
    expect([...read('docs/runbook.md').matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)).toEqual(names);
  });

  it('have a test for every alert', () => {
    const tests = read('deploy/prometheus/gantry-alerts.test.yml');
    const [, firing = ''] = /^([\s\S]*)name: a healthy service/m.exec(tests) ?? [];
    for (const [, name] of alerts.matchAll(/alert: (\w+)/g)) {
      expect(firing).toContain(`alertname: ${name}\n`);
      expect(tests).toContain(`alertname: ${name}, exp_alerts: [] }`);
    }
  });

  it.skipIf(!promtool)(
    'pass promtool (skipped where promtool is not installed: Debian has it in the package prometheus)',
    () => {
      const run = (...args: string[]): string =>
        execFileSync('promtool', args, { cwd: `${root}deploy/prometheus`, encoding: 'utf8' });
      expect(run('check', 'config', 'prometheus.yml')).toContain('is valid');
      expect(run('test', 'rules', 'gantry-alerts.test.yml')).toContain('SUCCESS');
    },
  );
});

describe('the metrics', () => {
  const statusOf = async (config: Record<string, string>, headers: Record<string, string> = {}) => {
    await using guarded = await startGantry({ config });
    const { status, headers: sent } = await guarded.fetch('/metrics', { headers });
    expect((await guarded.fetch('/live')).status).toBe(200);
    return { status, challenge: sent.get('www-authenticate') };
  };
  const METRICS_TOKEN = 'only-for-the-metrics';

  it.each([
    ['everybody, unless a setting says otherwise', {}, {}, 200],
    ['nobody without the token', { METRICS_TOKEN }, {}, 401],
    ['nobody with another token', { METRICS_TOKEN }, { authorization: 'Bearer only-for-the-metric' }, 401],
    ['those with the token', { METRICS_TOKEN }, { authorization: `Bearer ${METRICS_TOKEN}` }, 200],
    ['those at an address of the list', { METRICS_ALLOW_FROM: '10.0.0.0/8,127.0.0.1' }, {}, 200],
    ['nobody at another address', { METRICS_ALLOW_FROM: '10.0.0.0/8' }, {}, 403],
    [
      'those with the token at another address',
      { METRICS_TOKEN, METRICS_ALLOW_FROM: '10.0.0.0/8' },
      { authorization: `Bearer ${METRICS_TOKEN}` },
      200,
    ],
    [
      'nobody who only says to be at an address of the list',
      { METRICS_ALLOW_FROM: '10.0.0.0/8' },
      { 'x-forwarded-for': '10.0.0.1' },
      403,
    ],
    [
      'those of whom a trusted proxy says so',
      { METRICS_ALLOW_FROM: '10.0.0.0/8', TRUSTED_PROXIES: '127.0.0.1' },
      { 'x-forwarded-for': '10.0.0.1' },
      200,
    ],
  ] as [string, Record<string, string>, Record<string, string>, number][])(
    'can be read by %s',
    async (_, config, headers, status) => {
      const answer = await statusOf(config, headers);
      expect(answer).toEqual({ status, challenge: status === 401 ? 'Bearer' : null });
    },
  );
});
