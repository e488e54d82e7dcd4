import { describe, expect, it } from 'vitest';
import { axisAoa } from '../../src/formats/axis-aoa.ts';
import { readBody, readPayload } from './reading.ts';

const TOPIC = 'axis/B8A44FC5C075/event/tns:axis/CameraApplicationPlatform/ObjectAnalytics/Device1Scenario1';

const triggered = (data: object, more: object = {}): string =>
  JSON.stringify({
    topic: 'axis:CameraApplicationPlatform/ObjectAnalytics/Device1Scenario1',
    timestamp: 1645568542222,
    serial: 'B8A44FC5C075',
    message: { source: {}, key: {}, data },
    ...more,
  });

describe('AXIS Object Analytics', () => {
  it('axis-aoa-mqtt-crossline.json: counts are an aggregate', async () => {
    expect(await readPayload(axisAoa, 'axis-aoa-mqtt-crossline.json')).toEqual({
      is: 'aggregate',
      reports: [],
      note: expect.stringMatching(/running totals/),
      device: ['B8A44F941234'],
    });
  });

  it('a scenario that one vehicle triggers is an event', async () => {
    const { reports } = await readBody(
      axisAoa,
      triggered({
        active: '1',
        classTypes: 'truck',
        objectId: '380491',
        triggerTime: '2026-06-30T10:00:00.123456Z',
      }),
      { topic: TOPIC },
    );
    expect(reports).toMatchObject([
      {
        key: 'B8A44FC5C075|380491|2026-06-30T10:00:00.123456Z',
        device: ['B8A44FC5C075'],
        occurredAt: Date.UTC(2026, 5, 30, 10, 0, 0, 123),
        event: {
          eventType: 'VEHICLE_DETECTION',
          vehicleType: 'truck',
          licensePlateNumber: null,
          tags: ['axis'],
          metadata: { vendor: 'axis-aoa', scenario: 'Device1Scenario1', objectId: '380491' },
        },
      },
    ]);
  });

  it('the scenario ANY repeats the same object under the same key', async () => {
    const data = { active: '1', classTypes: 'car', objectId: '1', triggerTime: '2026-06-30T10:00:00Z' };
    const any = { topic: 'axis:CameraApplicationPlatform/ObjectAnalytics/Device1ScenarioANY' };
    const [one, other] = await Promise.all([
      readBody(axisAoa, triggered(data)),
      readBody(axisAoa, triggered(data, any)),
    ]);
    expect(one.reports[0]?.key).toBe(other.reports[0]?.key);
  });

  it('the scenario and the camera may be in the MQTT topic alone', async () => {
    const { reports } = await readBody(
      axisAoa,
      '{"timestamp":1645568542,"message":{"data":{"active":true,"classTypes":"bus"}}}',
      { topic: TOPIC },
    );
    expect(reports).toMatchObject([
      {
        key: 'B8A44FC5C075|Device1Scenario1|1645568542',
        device: ['B8A44FC5C075'],
        occurredAt: 1645568542000,
        event: { vehicleType: 'bus' },
      },
    ]);
  });

  it.each([
    ['counts of vehicles', { reason: 'car', total: '9', totalCar: '7', totalTruck: '2' }, 'aggregate'],
    ['an occupancy', { occupancy: '4' }, 'aggregate'],
    ['several objects', { active: '1', classTypes: 'car,truck' }, 'aggregate'],
    ['a person', { active: '1', classTypes: 'human', objectId: '2' }, 'nothing'],
    ['an object that left', { active: '0', classTypes: 'car', objectId: '2' }, 'nothing'],
    ['an object without a class', { active: '1' }, 'nothing'],
  ])('without a report: %s', async (_, data, is) => {
    expect(await readBody(axisAoa, triggered(data))).toMatchObject({ is, reports: [] });
  });

  it.each([
    [
      'a threshold',
      triggered({ active: '1', classTypes: 'car' }, { topic: 'x/ObjectAnalytics/Device1Scenario1Threshold' }),
      'aggregate',
    ],
    ['the connection', '{"connected":true,"serial":"S"}', 'heartbeat'],
    ['another event', triggered({ state: '1' }, { topic: 'onvif:Device/axis:IO/Port' }), 'nothing'],
    ['an empty body', '', 'nothing'],
    ['wrong types', '{"topic":5,"message":[]}', 'nothing'],
    ['broken JSON', '{"topic":', 'unreadable'],
  ])('without a report: %s', async (_, body, is) => {
    expect(await readBody(axisAoa, body)).toMatchObject({ is, reports: [], note: expect.any(String) });
  });
});
