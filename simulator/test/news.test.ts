import { createGantryClient } from '@gantry/client';
import { describe, expect, it } from 'vitest';
import { ADMIN, eventually, startGantry } from '../../server/test/harness.ts';
import { limitLines } from '../src/demo/line-limit.ts';
import { followNews } from '../src/demo/news.ts';
import { buildRoad } from './road.ts';

const EVERYTHING = { incidents: true, watchlist: true, realtime: true };

describe('news', () => {
  it('contain each incident and each alert once, through an outage and after the token has expired', async () => {
    await using gantry = await startGantry();
    await using road = await buildRoad(gantry.url);
    const client = createGantryClient(road.url);
    const logInAgain = () => client.login(ADMIN.email, ADMIN.password);
    const { id } = await logInAgain();
    const token = await gantry.tokenFor('ADMIN');
    const apiKey = await gantry.registerSensor();
    await gantry.ok('watchlist.create', { pattern: 'AB 12*', reason: 'Stolen', priority: 'HIGH' }, { token });

    const lines: string[] = [];
    const news = followNews({ id, client, logInAgain }, EVERYTHING, (line) => lines.push(line));
    const saidOf = (what: string) => lines.filter((line) => line.includes(what)).length;
    const said = (what: string) =>
      eventually(
        async () => saidOf(what),
        (times) => times > 0,
        20_000,
      );
    const open = (title: string) =>
      gantry.ok('incidents.create', { title, type: 'COLLISION', severity: 'CRITICAL' }, { token });
    const read = (licensePlateNumber: string) =>
      gantry.ok('events.ingest', { apiKey, eventType: 'PLATE_RECOGNITION', licensePlateNumber });

    // Incidents from before the subscription are not shown, so incidents are opened until the first one is.
    for (let nth = 0; lines.length === 0; nth++) {
      await open(`First ${nth}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d New incident, CRITICAL: First \d+$/);
    while (saidOf('AB-1200') === 0) {
      await read('AB-1200');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(lines.find((line) => line.includes('AB-1200'))).toMatch(
      /Watchlist, HIGH: AB-1200 at .* \(Stolen\)$/,
    );

    road.become('gone');
    road.cut();
    const { id: incidentId } = await open('While it was away');
    await gantry.ok('incidents.acknowledge', { id: incidentId }, { token });
    await read('AB-1299');
    road.become('unavailable');
    await eventually(
      async () => road.turnedAway(),
      (times) => times > 0,
    );
    await gantry.ok('auth.logout', undefined, { token: client.token ?? '' });
    road.become('well');
    await said('While it was away');
    await said('AB-1299');
    await open('After that');
    await said('After that');
    expect(['While it was away', 'AB-1299', 'After that'].map(saidOf)).toEqual([1, 1, 1]);

    const heard: string[] = [];
    const others = followNews({ id, client, logInAgain }, EVERYTHING, (line) => heard.push(line));
    while (heard.length === 0) {
      await open('After that');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await news.stop();
    const before = lines.length;
    await open('Too late');
    await eventually(
      async () => heard.some((line) => line.includes('Too late')),
      (isHeard) => isHeard,
    );
    expect(lines).toHaveLength(before);
    await others.stop();
  });

  it('end with a message when they are forbidden', async () => {
    await using gantry = await startGantry({ config: { FEATURES: 'incidents' } });
    const client = createGantryClient({ url: gantry.url, token: await gantry.tokenFor('ADMIN') });
    const lines: string[] = [];
    const colleague = { id: '', client, logInAgain: async () => undefined };
    const news = followNews(colleague, EVERYTHING, (line) => lines.push(line));
    await eventually(
      async () => lines.length,
      (all) => all === 2,
    );
    expect(
      lines.every((line) => line.startsWith('New incidents and alerts are no longer shown: The feature')),
    ).toBe(true);
    await news.stop();
  });
});

describe('a limit of lines', () => {
  it('passes the given number in a minute, and then reports how many were omitted', () => {
    let now = 0;
    const lines: string[] = [];
    const say = limitLines(
      2,
      (line) => lines.push(line),
      () => now,
    );
    for (const line of ['a', 'b', 'c', 'd']) say(line);
    now = 59_999;
    say('e');
    now = 60_000;
    say('f');
    now = 200_000;
    say('g');
    expect(lines).toEqual(['a', 'b', '… and 3 more', 'f', 'g']);
  });
});
