import { plateKey } from '@gantry/contract/plate';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { eventually, sharedGantry } from './harness.ts';
import { startMailServer } from './mail-server.ts';
import { addContact, alarm, announceTo } from './notices.ts';
import { startReceiver } from './webhook-receiver.ts';

// Plates are planted wherever a message may take a text from, and looked for in everything that left.

const receiver = await startReceiver();
const mail = await startMailServer();
const gantry = await sharedGantry({
  config: {
    WEBHOOK_ALLOW_HOSTS: receiver.host,
    SMTP_URL: mail.url,
    SMTP_FROM: 'gantry@example.org',
    HIDE_PLATES_FROM: 'FIELD',
  },
  overrides: { timings: { sweepNoticesMs: 50 } },
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
const plates = [...new Set(fc.sample(plate, { numRuns: 60, seed: 7 }))].slice(0, 50);

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
