import { devNull } from 'node:os';
import { describe, expect, it } from 'vitest';
import { ADMIN, eventually, sharedGantry } from '../../../server/test/harness.ts';
import { run } from './process.ts';

const gantry = await sharedGantry();

const options = (...more: string[]): string[] => ['--url', gantry.url, '--steady', ...more];
const password = { GANTRY_PASSWORD: ADMIN.password };

const countEvents = async (): Promise<number> => {
  const { rows } = await gantry.pool.query<{ n: number }>('SELECT count(*) AS n FROM events');
  return rows[0]?.n ?? 0;
};

describe('a simulated fleet', () => {
  it('registers sensors of all types, sends heartbeats and reports, and stops by itself', async () => {
    const fleet = run('simulate', options('--sensors', '6', '--rate', '30', '--duration', '3'), password);
    const code = await fleet.ended;
    expect(fleet.text()).toContain('6 registered, 0 known');
    expect(fleet.text()).toMatch(/[0-6]\/6 online/);
    expect(fleet.text()).toMatch(
      /Sent [0-9,]+ events in [0-9.]+ s, [0-9]+ heartbeats, 0 refused, 0 retries\n/,
    );
    expect(code).toBe(0);

    const sensors = await gantry.ok('sensors.getAllSensors');
    expect(sensors).toHaveLength(6);
    expect(new Set(sensors.map(({ type }: { type: string }) => type)).size).toBe(5);
    for (const sensor of sensors) {
      expect(sensor).toMatchObject({ location: { name: expect.stringContaining(' @ ') } });
      // ONLINE, unless the sensor reports a critical issue at this time.
      expect(sensor.status).not.toBe('OFFLINE');
      expect(sensor.lastHeartbeat).not.toBeNull();
    }

    const sent = Number(/Sent ([0-9,]+) events/.exec(fleet.text())?.[1]?.replaceAll(',', ''));
    // 6 sensors report 130 events a minute, here 30 times as many: 195 in three seconds.
    expect(sent).toBeGreaterThan(120);
    expect(sent).toBeLessThan(280);
    expect(await countEvents()).toBe(sent);
    const token = await gantry.tokenFor('VIEWER');
    const stats = await gantry.ok('events.getStats', {}, { token });
    expect(stats.total).toBe(sent);
    expect(stats.byType.length).toBeGreaterThan(3);
    // The types depend on chance and on the hour, but one in five events of a camera is a violation.
    expect(stats.byViolationType.length).toBeGreaterThan(0);
  });

  it('finds its sensors again, and stops cleanly when it is interrupted', async () => {
    const fleet = run('simulate', options('--sensors', '6', '--rate', '5'), password);
    await fleet.until(/0 registered, 6 known/);
    await fleet.until(/online/);
    fleet.interrupt();
    expect(await fleet.ended).toBe(0);
    expect(fleet.text()).toMatch(/Sent [0-9,]+ events/);
    expect(await gantry.ok('sensors.getAllSensors')).toHaveLength(6);
  });

  it('sends its past once, however often it is run', async () => {
    const past = ['--sensors', '3', '--seed', '9', '--history-days', '3', '--history-rate', '0.01'];
    const first = run('simulate', options(...past, '--rate', '0.2', '--duration', '1'), password);
    expect(await first.ended).toBe(0);
    const reported = Number(
      [...first.text().matchAll(/100 % · ([0-9,]+) events\n/g)].at(-1)?.[1]?.replaceAll(',', ''),
    );
    // 3 sensors report 60 events a minute: a fifth of a hundredth of that, for three days.
    expect(reported).toBeGreaterThan(400);
    expect(reported).toBeLessThan(640);

    const before = await countEvents();
    const again = run('simulate', options(...past, '--rate', '0.2', '--duration', '1'), password);
    expect(await again.ended).toBe(0);
    const known = Number(/\(([0-9,]+) known already\)/.exec(again.text())?.[1]?.replaceAll(',', ''));
    expect(known).toBeGreaterThan(reported * 0.99);
    expect(again.text()).toContain(' 0 refused');
    expect((await countEvents()) - before).toBeLessThan(10);
  });

  it('continues with the sensors whose keys are valid, and ends when there are none', async () => {
    const token = await gantry.tokenFor('ADMIN');
    const fleet = run('simulate', options('--sensors', '2', '--seed', '77', '--rate', '30'), password);
    await fleet.until(/online/);
    const mine = async () => (await gantry.ok('sensors.getAll', { search: 'sim-77-', take: 100 })).sensors;
    // Not all of them are ONLINE: at any time, a few virtual sensors report a critical issue.
    const heard = (all: { lastHeartbeat?: string | null }[]) =>
      all.every(({ lastHeartbeat }) => lastHeartbeat);
    await eventually(mine, heard);
    const [one, other] = await mine();
    await gantry.ok('sensors.delete', { id: one.id }, { token });
    expect((await gantry.ok('sensors.getById', { id: other.id })).status).not.toBe('OFFLINE');
    await gantry.ok('sensors.rotateKey', { id: other.id }, { token });
    expect(await fleet.ended).toBe(1);
    expect(fleet.text()).toContain('The service refuses every sensor');
    expect(fleet.text()).toContain('Invalid API key');
  });
});

describe('a simulation that cannot start reports the reason', () => {
  it.each([
    [
      'the service does not listen',
      () => ['--url', 'http://127.0.0.1:9', '--password', 'x'],
      /Cannot reach .*Is the service running/,
    ],
    [
      'the password is wrong',
      () => options('--password', 'wrong'),
      /Cannot log in as admin@gantry.local: Invalid credentials/,
    ],
    ['there is no password', () => options(), /No password: give it with --password or GANTRY_PASSWORD/],
    ['the address is invalid', () => ['--url', 'gantry'], /--url .*Use an address such as/, 2],
    ['there are no sensors', () => ['--sensors', '0'], /--sensors .*from 1 to 10000/, 2],
  ])('when %s', async (_, args, says, code = 1) => {
    const failed = run('simulate', args(), { DATA_DIR: devNull });
    expect(await failed.ended).toBe(code);
    expect(failed.text()).toMatch(says);
    expect(failed.text()).not.toMatch(/\n\s+at /);
  });

  it('when the user may not manage sensors', async () => {
    await gantry.tokenFor('VIEWER');
    const failed = run('simulate', options('--email', 'viewer@gantry.local'), password);
    expect(await failed.ended).toBe(1);
    expect(failed.text()).toContain('viewer@gantry.local is VIEWER and may not manage sensors');
  });
});
