import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BrokerAddress, BrokerClient } from '../src/devices/mqtt-client.ts';
import { certificatesIn, hasOpenssl } from './certificates.ts';
import { connect, messagesOf } from './gateway-calls.ts';
import { eventually, startGantry } from './harness.ts';
import { type Broker, connectDevice, startBroker } from './mqtt-broker.ts';

const folder = mkdtempSync(join(tmpdir(), 'gantry-mqtt-tls-'));
const file = (name: string): string => join(folder, name);
const pem = (name: string): Buffer => readFileSync(file(name));
const { makeAuthority, makeCertificate } = certificatesIn(folder);

describe.skipIf(!hasOpenssl)('MQTT over TLS', () => {
  let broker: Broker;
  beforeAll(async () => {
    makeAuthority('authority');
    makeAuthority('stranger');
    makeCertificate('broker', 'authority');
    makeCertificate('service', 'authority');
    makeCertificate('nobody', 'stranger');
    broker = await startBroker(0, [], folder);
  });
  afterAll(async () => {
    await broker.kill();
    await rm(folder, { recursive: true, force: true });
  });

  it('receives messages with a private authority and a client certificate, also after the broker was killed', async () => {
    await using gantry = await startGantry({
      config: {
        MQTT_URL: broker.url,
        MQTT_CA_FILE: file('authority.pem'),
        MQTT_CERT_FILE: file('service.pem'),
        MQTT_KEY_FILE: file('service.key'),
      },
      overrides: { timings: { leadershipMs: 100, refreshCachesMs: 500 } },
    });
    const made = await connect(gantry, 'gantry', { options: { topics: ['mast/1'] } });
    const publishUntilStored = async (key: string): Promise<void> => {
      const device = await connectDevice(broker.url, {
        ca: pem('authority.pem'),
        cert: pem('service.pem'),
        key: pem('service.key'),
      });
      const event = { eventType: 'VEHICLE_DETECTION', idempotencyKey: key };
      try {
        await eventually(
          async () => {
            await device.publishAsync('mast/1', JSON.stringify(event), { qos: 1 });
            return gantry.count('events');
          },
          (count) => count === Number(key),
        );
      } finally {
        await device.endAsync(true);
      }
    };
    await publishUntilStored('1');
    await broker.kill();
    broker = await startBroker(broker.port, [], folder);
    await publishUntilStored('2');
    expect((await messagesOf(gantry, made.id)).length).toBeGreaterThanOrEqual(2);
  }, 60_000);

  it.each([
    ['the broker has a certificate of another authority', { ca: 'stranger', own: 'service' }],
    ['the authority is not given', { ca: null, own: 'service' }],
    ['the client has no certificate', { ca: 'authority', own: null }],
    ['the client has a certificate of another authority', { ca: 'authority', own: 'nobody' }],
  ])('does not connect when %s', async (_case, { ca, own }) => {
    const errors: unknown[] = [];
    const address: BrokerAddress = {
      url: broker.url,
      clientId: randomUUID(),
      ...(ca !== null && { ca: pem(`${ca}.pem`) }),
      ...(own !== null && { cert: pem(`${own}.pem`), key: pem(`${own}.key`) }),
    };
    const reports: boolean[] = [];
    const log = pino({ level: 'error' }, { write: (line: string) => void errors.push(JSON.parse(line)) });
    await using client = new BrokerClient({
      address,
      log,
      receive: () => async () => undefined,
      report: (isConnected) => reports.push(isConnected),
    });
    client.follow(new Set(['mast/1']));
    await eventually(
      async () => errors.length,
      (count) => count > 0,
    );
    expect(JSON.stringify(errors)).toContain('cannot be used');
    expect(reports).not.toContain(true);
  });
});
