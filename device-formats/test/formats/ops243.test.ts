import { describe, expect, it } from 'vitest';
import { ops243 } from '../../src/formats/ops243.ts';
import { readBody, readPayload } from './reading.ts';

const read = (body: string, options = {}) => readBody(ops243, body, { options });
const speeds = async (body: string, options = {}) =>
  (await read(body, options)).reports.map(({ event }) => [event.vehicleSpeed, event.metadata?.direction]);

describe('a radar', () => {
  it('reports an object with its highest speed (ops243-radar-object.jsonl)', async () => {
    expect(await readPayload(ops243, 'ops243-radar-object.jsonl')).toMatchObject({
      is: 'reports',
      note: null,
      reports: [
        {
          key: 'object_outbound@1750719826.031-1750719826.467',
          occurredAt: 1_750_719_826_031,
          event: {
            eventType: 'SPEED_DETECTION',
            vehicleSpeed: 48.2,
            metadata: { vendor: 'ops243', direction: 'receding', lengthMetres: 9.86 },
          },
        },
      ],
    });
  });

  it('sends frames; consecutive ones are one vehicle (radar-serial-A+045.txt)', async () => {
    const { reports } = await readPayload(ops243, 'radar-serial-A+045.txt');
    expect(reports.map(({ event }) => [event.vehicleSpeed, event.metadata?.direction])).toEqual([
      [18, 'approaching'],
      [45, 'approaching'],
      [30, 'receding'],
    ]);
  });

  it.each([
    ['A+045', {}, [[45, 'approaching']]],
    ['A-030\r\n', { speedUnit: 'mph' }, [[48.28, 'receding']]],
    [
      '"mps",10.0\n"mps",12.5\n"mps",0\n"mps",-5',
      {},
      [
        [45, 'approaching'],
        [18, 'receding'],
      ],
    ],
    ['-20', { speedUnit: 'mph' }, [[32.19, 'receding']]],
    ['{"DetectedObjectVelocity" : 13.0, "unit": "mph"}', {}, [[20.92, 'approaching']]],
    [
      '{"unit":"mps","time":"1750719826.1","speed":["10.0","3"],"direction":"outbound"}',
      {},
      [[36, 'receding']],
    ],
    [
      '{"time":1750719826.1,"speed":10}\n{"time":1750719826.6,"speed":12}\n{"time":1750719836,"speed":8}',
      {},
      [
        [43.2, 'approaching'],
        [28.8, 'approaching'],
      ],
    ],
    [
      '{"classifier":"object_inbound","max_speed_mph":"30","start_time":"12.4"}',
      {},
      [[48.28, 'approaching']],
    ],
  ])('sends %s', async (body, options, expected) => {
    expect(await speeds(body, options)).toEqual(expected);
  });

  it.each([
    ['A+000 A+000', 'nothing'],
    ['{"speed": 0}', 'nothing'],
    ['{"Product":"OPS243"}', 'status'],
    ['{"TimedSpeedCounts": 4}', 'aggregate'],
    ['hello', 'unreadable'],
    ['', 'unreadable'],
    ['A+0x5', 'unreadable'],
    ['"furlongs",3', 'unreadable'],
    ['{"classifier": 5, "max_speed_mps": {}, "start_time": []}', 'reports'],
    ['[null, 5]', 'unreadable'],
    ['{"speed": {"a": 1}}', 'nothing'],
  ])('sends %s, which is handled without an error', async (body, is) => {
    expect(await read(body)).toMatchObject({ is });
  });
});
