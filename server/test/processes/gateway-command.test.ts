import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { GANTRY } from '../build-programs.ts';
import { deviceMessages } from '../device-messages.ts';

const fileOf = (name: string): string => fileURLToPath(new URL(name, deviceMessages));

const gateway = (...args: readonly string[]) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(process.execPath, [GANTRY, 'gateway', ...args], (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    );
  });

describe('gantry gateway try', () => {
  it('prints the parts, the reading and the events of a body', async () => {
    const { code, out } = await gateway(
      'try',
      'ops243',
      fileOf('ops243-radar-object.jsonl'),
      '--received',
      '2026-01-01T00:00:00Z',
    );
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      parts: [{ text: expect.stringContaining('object_outbound') }],
      flaws: [],
      reading: {
        is: 'reports',
        note: null,
        reports: [{ key: 'object_outbound@1750719826.031-1750719826.467' }],
      },
      events: [
        {
          eventType: 'SPEED_DETECTION',
          vehicleSpeed: 48.2,
          timestamp: '2025-06-23T23:03:46.031Z',
          idempotencyKey: 'connection:object_outbound@1750719826.031-1750719826.467',
          metadata: { clock: 'device', receivedAt: '2026-01-01T00:00:00.000Z' },
        },
      ],
    });
  });

  it('evaluates a mapping, and exits', async () => {
    const options = JSON.stringify({ mapping: '{"plate": body.data.plate, "time": body.timestamp}' });
    const { code, out } = await gateway(
      'try',
      'mapped',
      fileOf('pastebin-lpr-event-id.json'),
      '--options',
      options,
    );
    expect(code).toBe(0);
    expect(JSON.parse(out).events).toMatchObject([
      { licensePlateNumber: 'B3518SCM', timestamp: '2019-02-25T09:34:27.403Z' },
    ]);
  });

  it.each([
    [1, ['try', 'ops243', fileOf('tattile-msg-doc.xml')], null],
    [1, ['try', 'mapped', fileOf('nwave-car-counter.json')], null],
    [2, ['try', 'nikon', 'x'], /^Not tried\. There is no format nikon: use one of /],
    [2, ['try', 'ops243', '/no/such/file'], /^Not tried\. There is no file \/no\/such\/file/],
    [2, ['try', 'ops243'], /missing required argument 'file'/],
    [2, ['try', 'ops243', '.', '--zone', 'Mars'], /There is no time zone Mars/],
    [2, ['try', 'ops243', '.', '--options', '{'], /^Not tried\. --options is not JSON/],
    [2, ['try', 'ops243', '.', '--options', '{"a":1}'], /^Not tried\. --options: There is no option a/],
    [2, ['try', 'ops243', '.', '--received', 'now'], /^Not tried\. --received must be a time/],
    [2, ['try', 'ops243', '.'], /^Not tried\. The file \. cannot be read/],
    [2, ['--what'], /unknown option '--what'/],
  ])('exits with %d: %#', async (expected, args, message) => {
    const { code, err } = await gateway(...args);
    if (message) expect(err).toMatch(message);
    expect(code).toBe(expected);
  });
});
