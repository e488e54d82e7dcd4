import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { formatNamed, formats } from '../../src/connections/formats.ts';
import { devicePayload, readBody } from './reading.ts';

const files = readdirSync(new URL('../devices/', import.meta.url)).filter(
  (name) => !name.endsWith('.source') && name !== 'README.md',
);

/** Values that take the place of each value of a payload in turn. */
const STRANGE: readonly unknown[] = [
  ...[null, 0, -1, true, '', 'x', [], [null], {}, { a: [[{}]] }],
  // Patterns that try every blank in turn would take minutes.
  `2026${' '.repeat(50_000)}x`,
];

/** Copies of the value in which one member after the other has been replaced, a few hundred at most. */
function* variations(value: unknown): Generator<unknown> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, each] of Object.entries(value).slice(0, 40)) {
    const replaced = (by: unknown): unknown =>
      Array.isArray(value) ? value.with(Number(key), by) : { ...value, [key]: by };
    for (const strange of STRANGE) yield replaced(strange);
    for (const inner of variations(each)) yield replaced(inner);
  }
}

describe.each(formats.map((format) => [format.name, format] as const))('the format %s', (_, format) => {
  it('reads the payload of every maker without an exception', async () => {
    for (const file of files) {
      const reading = await readBody(format, await devicePayload(file));
      expect(reading.reports.length > 0, file).toBe(reading.is === 'reports');
      if (reading.is !== 'reports') expect(reading.note, file).toMatch(/\S/);
    }
  });

  it('reads payloads with values of wrong types without an exception', async () => {
    const own = files.filter((file) => file.endsWith('.json') && file.startsWith(prefixOf(format.name)));
    for (const file of own) {
      const payload: unknown = JSON.parse((await devicePayload(file)).toString());
      let count = 0;
      for (const varied of variations(payload)) {
        if (++count > 500) break;
        const part = { name: null, fileName: null, contentType: null };
        const message = {
          parts: [{ ...part, content: { kind: 'json' as const, value: varied } }],
          path: '',
          topic: null,
          receivedAt: Date.UTC(2026, 6, 1),
        };
        await format.read(message, { options: {}, zone: 'Europe/Berlin' });
      }
    }
  });

  it('explains what to enter, with the exact values', () => {
    const values = { url: 'http://host/gateway/x/T0KEN', token: 'T0KEN', username: 'USER', password: 'PASS' };
    const steps = format.instructions(values);
    expect(steps.length).toBeGreaterThanOrEqual(4);
    expect(steps.length).toBeLessThanOrEqual(9);
    expect(steps.join('\n')).toMatch(/T0KEN|USER|PASS/);
  });
});

// A format that accepts messages of another maker as its own would hide a wrong address.
it.each([
  ['platerecognizer', /^platerecognizer/],
  ['openalpr', /^openalpr/],
  ['frigate', /^frigate/],
  ['axis-lpv', /^axis/],
  ['axis-aoa', /^axis-aoa/],
  ['unifi-protect', /^unifi/],
  ['verkada', /^verkada/],
  ['codeproject', /^(?:codeproject|blueiris)/],
  ['genetec', /^genetec/],
] as const)('the format %s reads events in its own payloads alone', async (name, own) => {
  for (const file of files) {
    const { reports, is } = await readBody(formatNamed(name), await devicePayload(file));
    if (!own.test(file)) expect([file, reports.length, is === 'heartbeat']).toEqual([file, 0, false]);
  }
});

/** The beginning of the names of a format's payloads, which are named after their makers. */
function prefixOf(name: string): string {
  return { 'axis-lpv': 'axis-' }[name] ?? name;
}
