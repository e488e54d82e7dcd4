import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { eventually, sharedGantry } from './harness.ts';

// One record of a list by its id, however far down the list it is.
const gantry = await sharedGantry({ config: { WEBHOOK_ALLOW_HOSTS: '127.0.0.1' } });
const token = await gantry.tokenFor('ADMIN');
const apiKey = await gantry.registerSensor();

const ok = (procedure: string, input?: unknown) => gantry.ok(procedure, input, { token });
const STRANGE = ['x', '0', '-1', '1e3', '9'.repeat(30), 'constructor', '\u0000', '\ud800', randomUUID()];
const expectNotFound = async (procedure: string) => {
  for (const id of STRANGE) {
    const { status, message } = await gantry.refusal(procedure, { id }, { token });
    expect([id, status]).toEqual([id, 404]);
    expect(message).toMatch(/ not found$/);
  }
};

describe('one record', () => {
  it('of the alerts equals its entry in the list', async () => {
    const { id: entryId } = await ok('watchlist.create', { pattern: 'ONE 1', reason: 'Stolen' });
    await gantry.ingest(apiKey, { licensePlateNumber: 'ONE 1' });
    const { alerts } = await eventually(
      () => ok('watchlist.getAlerts', { entryId }),
      (page) => page.total === 1,
    );
    expect(await ok('watchlist.getAlert', { id: alerts[0].id })).toEqual(alerts[0]);
    await expectNotFound('watchlist.getAlert');
    await expectNotFound('watchlist.getById');
  });

  it('of the deliveries equals its entry in the list', async () => {
    const webhook = await ok('webhooks.create', {
      url: 'http://127.0.0.1:9/nobody',
      kinds: ['sensor.statusChanged'],
    });
    const { deliveryId } = await ok('webhooks.test', { id: webhook.id });
    // Attempts that fail at once change the delivery meanwhile.
    await eventually(
      async () => [
        await ok('webhooks.getDelivery', { id: deliveryId }),
        (await ok('webhooks.getDeliveries', { webhookId: webhook.id })).deliveries[0],
      ],
      ([one, listed]) => one.attempts > 0 && JSON.stringify(one) === JSON.stringify(listed),
    );
    await expectNotFound('webhooks.getDelivery');
  });

  it('of the activity log equals its entry in the list', async () => {
    await ok('locations.create', { name: 'Bridge' });
    const { activities } = await ok('users.getActivityLog', { action: 'locations.create' });
    expect(await ok('users.getActivityEntry', { id: activities[0].id })).toEqual(activities[0]);
    await expectNotFound('users.getActivityEntry');
  });
});
