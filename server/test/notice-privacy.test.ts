import { setTimeout as sleep } from 'node:timers/promises';
import { plateKey } from '@gantry/contract/plate';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { tokenOf } from '../src/notices/acknowledge.ts';
import { eventually, sharedGantry, untilBegun } from './harness.ts';
import { startMailServer } from './mail-server.ts';
import { addContact, alarm, announceTo } from './notices.ts';
import { openStream } from './sse.ts';
import { answer, startReceiver } from './webhook-receiver.ts';

// Plates are planted wherever a message may take a text from, and looked for in everything that left.

const receiver = await startReceiver();
const mail = await startMailServer();
const gantry = await sharedGantry({
  config: {
    WEBHOOK_ALLOW_HOSTS: receiver.host,
    SMTP_URL: mail.url,
    SMTP_FROM: 'gantry@example.org',
    HIDE_PLATES_FROM: 'FIELD',
    PUBLIC_URL: 'https://gantry.example.org',
  },
  overrides: { timings: { sweepNoticesMs: 50, evaluateAlarmsMs: 100 } },
});
const token = await gantry.tokenFor('ADMIN');
await gantry.tokenFor('FIELD');
const { users } = await gantry.ok('users.getAll', {}, { token });
const idOf = (role: string): string => users.find((user: { role: string }) => user.role === role).id;
const origin = `http://${receiver.host}`;
afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  await mail[Symbol.asyncDispose]();
});

const plate = fc
  .tuple(
    fc.string({ unit: fc.constantFrom(...'ABCÖÜ'), minLength: 1, maxLength: 3 }),
    fc.string({ unit: fc.constantFrom(...'MNPX'), minLength: 1, maxLength: 2 }),
    fc.integer({ min: 1_000, max: 9_999 }),
  )
  .map(([region, letters, number]) => `${region} ${letters} ${number}`);
const sampled = [...new Set(fc.sample(plate, { numRuns: 120, seed: 7 }))];
const [plates, listed] = [sampled.slice(0, 50), sampled.slice(50, 100)];

/** Whether a text contains a plate in any form. */
const shows = (text: string, of: string): boolean => plateKey(text).includes(plateKey(of));
/** Everything that left, by its recipient or path. */
const left = () => [
  ...receiver.received.map(({ path, body }) => ({ to: path, text: JSON.stringify(JSON.parse(body)) + body })),
  ...mail.messages.map((message) => ({
    to: message.to[0] ?? '',
    text: `${message.headers.get('subject')}${message.part('text/plain')}${message.part('text/html')}`,
  })),
];
const spelled = (of: string, n: number): string =>
  [of, of.replaceAll(' ', '-'), of.toLowerCase()][n % 3] ?? of;

describe('of fifty plates', () => {
  it('none leaves but to who may see them, by a channel that shows them, and after its release', async () => {
    const add = async (fields: object): Promise<string> =>
      (await gantry.ok('channels.create', { name: 'x', ...fields }, { token })).id;
    const ids = [
      await add({ kind: 'SLACK', url: `${origin}/hide/slack` }),
      await add({ kind: 'TEAMS', url: `${origin}/hide/teams` }),
      await add({ kind: 'HTTP', url: `${origin}/hide/http` }),
      await add({ kind: 'SMS', url: `${origin}/hide/sms`, to: ['+905320000000'] }),
      await add({ kind: 'SLACK', url: `${origin}/show/slack`, plates: 'SHOW' }),
      await add({ kind: 'SMTP', to: ['show@example.org'], plates: 'SHOW' }),
    ];
    await addContact(gantry, idOf('ADMIN'), { address: 'admin@example.org', language: 'ar' });
    await addContact(gantry, idOf('FIELD'), { address: 'hide@example.org', language: 'tr' });
    const to = [
      ...ids.map((channelId) => ({ channelId })),
      ...['ADMIN', 'FIELD'].map((role) => ({ userId: idOf(role) })),
    ];
    for (const [n, each] of plates.entries()) {
      const said = spelled(each, n);
      const isReleased = n % 2 === 0;
      const hit = alarm({
        ...{ plate: each, isReleased, ruleName: `Hit of ${said}`, value: said, place: `near ${said}` },
        ...{ text: `${said} was seen`, runbook: `Stop ${said}`, severity: 'CRITICAL' },
      });
      await announceTo(gantry, to, {
        ...{ severity: 'CRITICAL', policyName: `Hits of ${said}`, total: 2 },
        alarms: [hit, alarm({ text: 'Others', severity: 'LOW' })],
      });
    }
    const count = plates.length * to.length;
    await eventually(
      async () => left().length,
      (found) => found === count,
    );
    const whoShows = (of: string) =>
      new Set(left().flatMap((each) => (shows(each.text, of) ? [each.to] : [])));
    for (const [n, each] of plates.entries()) {
      const expected = n % 2 === 0 ? ['/show/slack', 'show@example.org', 'admin@example.org'] : [];
      expect([each, whoShows(each)]).toEqual([each, new Set(expected)]);
    }
    // Nothing but the rule is said of what is not released. An SMS has no room for more either.
    const details = left().filter(({ text }) => /near|was seen|Stop/.test(text)).length;
    expect(details).toBe((plates.length / 2) * (to.length - 1));
  });
});

describe('of fifty listed plates', () => {
  it('none leaves before a person has confirmed its hit, and those of a covert list never', async () => {
    receiver.respond = answer(200);
    const add = async (procedure: string, fields: object): Promise<string> =>
      (await gantry.ok(procedure, fields, { token })).id;
    const slack = { name: 'Chat', kind: 'SLACK', url: `${origin}/listed/slack`, plates: 'SHOW' };
    const channelIds = [
      await add('channels.create', slack),
      await add('channels.create', {
        name: 'Desk',
        kind: 'SMTP',
        to: ['listed@example.org'],
        plates: 'SHOW',
      }),
    ];
    const policyId = await add('policies.create', {
      name: 'Lists',
      steps: [{ afterMinutes: 0, to: channelIds.map((channelId) => ({ channelId })) }],
      // Those that are confirmed together are told together.
      groupWaitSeconds: 2,
    });
    await add('alarmRules.create', {
      name: 'Hits',
      severity: 'HIGH',
      condition: { source: 'HIT' },
      groupBy: ['SENSOR'],
      policyId,
    });
    await add('webhooks.create', { url: `${origin}/listed/webhook`, kinds: ['watchlist.alert'] });
    const streams = [
      await openStream(gantry.url, 'watchlist.onAlert', { token }),
      await openStream(gantry.url, 'alarms.onChanged', { token }),
    ];
    await Promise.all(streams.map(untilBegun));
    const lists = [
      await add('hotlists.create', { name: 'Open', priority: 'CRITICAL' }),
      await add('hotlists.create', {
        name: 'Covert',
        covert: true,
        verification: 'NEVER',
        priority: 'CRITICAL',
      }),
    ];
    const keys = [
      await gantry.registerSensor(),
      await gantry.registerSensor(),
      await gantry.registerSensor(),
    ];
    const read = (licensePlateNumber: string, n: number) =>
      gantry.ingest(keys[n] ?? '', { eventType: 'PLATE_RECOGNITION', licensePlateNumber });
    for (const [n, each] of listed.entries())
      await gantry.ok(
        'hotlists.addEntry',
        { hotlistId: lists[n % 2], plate: each, reason: `Stop ${each}` },
        { token },
      );
    for (const [n, each] of listed.entries()) await read(spelled(each, n), n < 10 ? 0 : 1);
    await eventually(
      () => gantry.count('watchlist_alerts WHERE hotlist_id IS NOT NULL'),
      (n) => n === listed.length,
    );

    // Whatever comes after an alert of the watchlist that everybody sees would have come.
    const sent = () => [
      ...receiver.received.flatMap(({ path, body }) =>
        path.includes('listed') ? [{ to: path, text: body }] : [],
      ),
      ...mail.messages.flatMap(({ to: [to = ''], part }) =>
        to.includes('listed') ? [{ to, text: `${part('text/plain')}${part('text/html')}` }] : [],
      ),
      ...streams.map(({ messages }, n) => ({ to: `stream ${n}`, text: JSON.stringify(messages) })),
    ];
    /** Where plates are shown, by plate. */
    const whereShown = (of: readonly string[]): ReadonlyMap<string, readonly string[]> => {
      const texts = sent().map(({ to, text }) => ({ to, key: plateKey(text) }));
      return new Map(
        of.map((each) => {
          const key = plateKey(each);
          return [
            each,
            [...new Set(texts.flatMap((text) => (text.key.includes(key) ? [text.to] : [])))].sort(),
          ];
        }),
      );
    };
    const everywhere = ['/listed/slack', '/listed/webhook', 'listed@example.org', 'stream 0', 'stream 1'];
    const shownEverywhere = async (of: readonly string[]) =>
      expect(
        await eventually(
          async () => [...whereShown(of).values()],
          (found) => found.every(({ length }) => length === everywhere.length),
        ),
      ).toEqual(of.map(() => everywhere));
    await gantry.ok('watchlist.create', { pattern: 'END 1', reason: 'End', priority: 'CRITICAL' }, { token });
    await read('END 1', 2);
    await shownEverywhere(['END 1']);
    expect([...whereShown(listed).values()].flat()).toEqual([]);

    const { hits } = await gantry.ok('hits.getAll', { hotlistId: lists[0], take: 100 }, { token });
    const confirmed = listed.filter((_, n) => n < 10 && n % 2 === 0);
    const idOfHit = (of: string): string =>
      hits.find((hit: { listedPlate: string }) => hit.listedPlate === of).id;
    for (const each of confirmed) await gantry.ok('hits.confirm', { id: idOfHit(each) }, { token });
    await shownEverywhere(confirmed);
    const shown = whereShown(listed);
    expect(listed.filter((each) => shown.get(each)?.length)).toEqual(confirmed);
    for (const stream of streams) stream.close();
  });
});

/** Lets what waits go on waiting, whatever its attempts under way end with, and these arrive. */
const holdWaiting = async () => {
  await gantry.pool.query(
    `UPDATE notices SET due_at = 'infinity', by_hand = by_hand + 1 WHERE status = 'PENDING'`,
  );
  await sleep(1_000);
};

it('hides plates in what waits for a user who may not see them any more, and for a channel that hides them now', async () => {
  const add = async (procedure: string, fields: object): Promise<string> =>
    (await gantry.ok(procedure, fields, { token })).id;
  const user = { firstName: 'Kim', lastName: 'Moved', role: 'OPERATOR', password: 'Correct-horse-2' };
  const userId = await add('users.create', { ...user, email: 'kim@example.org' });
  await addContact(gantry, userId, { kind: 'SMS', address: '+905321112233' });
  const sms = { name: 'Texts', kind: 'HTTP', url: `${origin}/late/sms`, plates: 'SHOW' };
  await gantry.pool.query(`DELETE FROM channels WHERE kind = 'SMS'`);
  await add('channels.create', { ...sms, kind: 'SMS' });
  const channelId = await add('channels.create', { ...sms, url: `${origin}/late/http` });
  const policyId = await add('policies.create', {
    name: 'Alerts of LATE 77',
    steps: [{ afterMinutes: 0, to: [{ userId }, { channelId }] }],
    groupWaitSeconds: 0,
  });
  const rule = { name: 'Seen: LATE 77', severity: 'CRITICAL', condition: { source: 'HIT' } };
  await add('alarmRules.create', { ...rule, policyId });
  await add('watchlist.create', { pattern: 'LATE 77', reason: 'Stolen', priority: 'CRITICAL' });
  receiver.received.length = 0;
  receiver.respond = answer(500);
  const late = () => receiver.received.filter(({ path }) => path.startsWith('/late/'));
  const bothCame = () =>
    eventually(
      async () => new Set(late().map(({ path }) => path)).size,
      (n) => n === 2,
    );
  await gantry.ingest(await gantry.registerSensor(), {
    eventType: 'PLATE_RECOGNITION',
    licensePlateNumber: 'LATE 77',
  });
  await bothCame();
  expect(late().filter(({ body }) => shows(body, 'LATE 77')).length).toBe(late().length);
  await holdWaiting();
  await gantry.ok('users.updateRole', { id: userId, role: 'FIELD' }, { token });
  await gantry.ok('channels.update', { id: channelId, kind: 'HTTP', plates: 'HIDE' }, { token });
  receiver.received.length = 0;
  receiver.respond = answer(200);
  await gantry.pool.query(`UPDATE notices SET due_at = now() WHERE status = 'PENDING'`);
  await bothCame();
  expect(late().filter(({ body }) => shows(body, 'LATE 77'))).toEqual([]);
});

describe('while a message waits', () => {
  const add = async (procedure: string, fields: object): Promise<string> =>
    (await gantry.ok(procedure, fields, { token })).id;
  const channelOf = { name: 'Late', plates: 'SHOW' };
  const watch = async (pattern: string) => {
    await add('watchlist.create', { pattern, reason: 'Stolen', priority: 'CRITICAL' });
    await gantry.ingest(await gantry.registerSensor(), {
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: pattern,
    });
  };
  /** The bodies that came to a path, once one of them is so. */
  const came = (path: string, isSo: (body: string) => boolean) =>
    eventually(
      async () => receiver.received.flatMap((each) => (each.path === path ? [each.body] : [])),
      (bodies) => bodies.some(isSo),
    );
  /** Makes a rule about hits the only one, and leaves it no hits of before. */
  const rulesOnly = async (fields: object) => {
    await gantry.pool.query('UPDATE watchlist_alerts SET acknowledged_at = now()');
    const { rules } = await gantry.ok('alarmRules.getAll', {}, { token });
    for (const { id } of rules) await gantry.ok('alarmRules.delete', { id }, { token });
    await add('alarmRules.create', { severity: 'CRITICAL', condition: { source: 'HIT' }, ...fields });
  };
  const sendAgain = async () => {
    receiver.received.length = 0;
    receiver.respond = answer(200);
    await gantry.pool.query(`UPDATE notices SET due_at = now() WHERE status = 'PENDING'`);
  };

  it('hides its plates from a role that the settings hide them from by then, also on the page of its link', async () => {
    const plate = 'STAY 55';
    const user = { firstName: 'Ida', lastName: 'Stays', role: 'OPERATOR', password: 'Correct-horse-2' };
    const userId = await add('users.create', { ...user, email: 'ida@example.org' });
    await addContact(gantry, userId, { kind: 'SMS', address: '+905321112244' });
    await gantry.pool.query(`DELETE FROM channels WHERE kind = 'SMS'`);
    await add('channels.create', { ...channelOf, kind: 'SMS', url: `${origin}/stay` });
    const steps = [{ afterMinutes: 0, to: [{ userId }] }];
    const policyId = await add('policies.create', { name: 'Stay', steps, groupWaitSeconds: 0 });
    await rulesOnly({ name: `Seen: ${plate}`, policyId });
    receiver.respond = answer(500);
    await watch(plate);
    await came('/stay', (body) => shows(body, plate));
    const { notices } = await gantry.ok('notices.getAll', { userId }, { token });
    const page = async () =>
      (await gantry.fetch(`/ack/${tokenOf(gantry.app.context.secrets, notices[0].id)}`)).body as string;
    expect(shows(await page(), plate)).toBe(true);
    await holdWaiting();
    const { config } = gantry.app.context;
    const before = config.HIDE_PLATES_FROM;
    // As after a restart with another setting.
    Object.assign(config, { HIDE_PLATES_FROM: [...before, 'OPERATOR'] });
    try {
      await sendAgain();
      const [body = ''] = await came('/stay', () => true);
      expect(shows(body, plate)).toBe(false);
      expect(await page()).toContain('Seen: •••');
    } finally {
      Object.assign(config, { HIDE_PLATES_FROM: before });
    }
  });

  it('hides the plates of all alarms of a storm', async () => {
    const channelId = await add('channels.create', { ...channelOf, kind: 'HTTP', url: `${origin}/storm` });
    const steps = [{ afterMinutes: 0, to: [{ channelId }] }];
    const policyId = await add('policies.create', { name: 'Storm', steps, groupWaitSeconds: 0 });
    await rulesOnly({ name: 'Storm', policyId, groupBy: ['SENSOR'] });
    receiver.respond = answer(500);
    for (let n = 11; n < 25; n++) await watch(`STORM ${n}`);
    const isSummary = (body: string) => JSON.parse(body).kind === 'SUMMARY';
    await came('/storm', (body) => isSummary(body) && /STORM 1\d/.test(body));
    await holdWaiting();
    await gantry.ok('channels.update', { id: channelId, kind: 'HTTP', plates: 'HIDE' }, { token });
    await sendAgain();
    const bodies = (await came('/storm', isSummary)).filter(isSummary);
    expect(bodies.filter((body) => /STORM \d\d/.test(body))).toEqual([]);
  });

  it('is not sent any more once the list of its hit is covert, nor to webhooks or shown by its link', async () => {
    const plate = 'GONE 31';
    const user = { firstName: 'Eda', lastName: 'Waits', role: 'ADMIN', password: 'Correct-horse-2' };
    const userId = await add('users.create', { ...user, email: 'eda@example.org' });
    await addContact(gantry, userId, { kind: 'SMS', address: '+905321112255' });
    await gantry.pool.query(`DELETE FROM channels WHERE kind = 'SMS'`);
    await add('channels.create', { ...channelOf, kind: 'SMS', url: `${origin}/gone/sms` });
    const channelId = await add('channels.create', {
      ...channelOf,
      kind: 'HTTP',
      url: `${origin}/gone/http`,
    });
    const steps = [{ afterMinutes: 0, to: [{ userId }, { channelId }] }];
    const policyId = await add('policies.create', { name: 'Gone', steps, groupWaitSeconds: 0 });
    await rulesOnly({ name: 'Listed', policyId, groupBy: ['SENSOR'] });
    const hookId = await add('webhooks.create', { url: `${origin}/gone/hook`, kinds: ['watchlist.alert'] });
    receiver.respond = answer(500);
    const hotlistId = await add('hotlists.create', {
      name: 'Gone',
      verification: 'NEVER',
      priority: 'CRITICAL',
    });
    await gantry.ok('hotlists.addEntry', { hotlistId, plate, reason: 'Sought' }, { token });
    const other = 'HERE 31';
    for (const licensePlateNumber of [plate, other]) {
      if (licensePlateNumber === other)
        await add('watchlist.create', { pattern: other, reason: 'Stolen', priority: 'CRITICAL' });
      await gantry.ingest(await gantry.registerSensor(), {
        eventType: 'PLATE_RECOGNITION',
        licensePlateNumber,
      });
      for (const path of ['http', 'hook'])
        await came(`/gone/${path}`, (body) => shows(body, licensePlateNumber));
    }
    const { notices } = await gantry.ok('notices.getAll', { userId }, { token });
    const pages = async () =>
      Promise.all(
        notices.map(
          async ({ id }: { id: string }) =>
            (await gantry.fetch(`/ack/${tokenOf(gantry.app.context.secrets, id)}`)).body as string,
        ),
      );
    const pagesThatShow = async (of: string) => (await pages()).filter((page) => shows(page, of)).length;
    expect([await pagesThatShow(plate), await pagesThatShow(other)]).toEqual([1, 1]);
    await holdWaiting();
    await gantry.ok('hotlists.update', { id: hotlistId, covert: true }, { token });
    await sendAgain();
    await gantry.pool.query(`UPDATE webhook_deliveries SET due_at = now() WHERE status = 'PENDING'`);
    for (const path of ['http', 'hook']) {
      const bodies = await came(`/gone/${path}`, (body) => shows(body, other));
      expect(bodies.filter((body) => shows(body, plate))).toEqual([]);
    }
    const refusal = { last_error: 'It is about a hit whose hotlist has become covert' };
    const failed = await eventually(
      async () =>
        (
          await gantry.pool.query(
            `SELECT last_error FROM notices WHERE status = 'FAILED' AND policy_name = 'Gone'
             UNION ALL SELECT last_error FROM webhook_deliveries WHERE status = 'DEAD' AND webhook_id = $1`,
            [hookId],
          )
        ).rows,
      ({ length }) => length === 3,
    );
    expect(failed).toEqual([refusal, refusal, refusal]);
    expect([await pagesThatShow(plate), await pagesThatShow(other)]).toEqual([0, 1]);
  });
});
