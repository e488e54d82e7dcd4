import { expect, it } from 'vitest';
import { Contact } from '../src/contact.ts';
import { partsOf } from '../src/target.ts';

const START = Date.parse('2026-07-01T01:00:00Z');

/** A contact, its clock and the claims of its messages, in seconds. */
const contactOf = (maxSilence: number | null = null) => {
  const state = { elapsed: 0, aheadBy: START };
  const contact = new Contact(maxSilence === null ? null : maxSilence * 1_000, () => state.elapsed);
  const after = (seconds: number) => {
    state.elapsed += seconds * 1_000;
    return {
      claims: (input: 'stdin' | 'serial' | 'http' = 'stdin') =>
        contact.received(input, state.aheadBy + state.elapsed) / 1_000,
      heard: (input: 'stdin' | 'http') => contact.heard(input),
      setClock: (by: number) => (state.aheadBy += by * 1_000),
      break: () => contact.break(),
    };
  };
  return { contact, after };
};

it('claims the time between two messages of an open input', () => {
  const { after } = contactOf();
  expect(after(5).claims()).toBe(0);
  expect(after(7_200).claims()).toBe(7_200);
  expect(after(0).claims()).toBe(0);
  expect(after(3).claims()).toBe(3);
});

it('claims nothing across a failure of the input, and the time after it again', () => {
  const { after } = contactOf();
  after(0).claims();
  after(10).break();
  expect(after(10).claims()).toBe(0);
  expect(after(10).claims()).toBe(10);
});

it.each([3_600, -3_600, 3, -3])('claims nothing if the clock was set by %i s', (by) => {
  const { after } = contactOf();
  after(0).claims();
  after(10).setClock(by);
  expect(after(10).claims()).toBe(0);
  expect(after(10).claims()).toBe(10);
});

it('claims nothing while the clock is not set', () => {
  const { contact, after } = contactOf();
  after(0);
  expect(contact.received('stdin', null)).toBe(0);
  expect(after(10).claims()).toBe(0);
  expect(after(10).claims()).toBe(10);
});

it('claims nothing if several inputs report', () => {
  const { after } = contactOf();
  after(0).claims('stdin');
  expect(after(10).claims('stdin')).toBe(10);
  expect(after(10).claims('serial')).toBe(0);
  expect(after(10).claims('serial')).toBe(0);
});

it('claims a silence only if it was not longer than that of a device that works', () => {
  const { after } = contactOf(60);
  after(0).claims();
  expect(after(60).claims()).toBe(60);
  expect(after(61).claims()).toBe(0);
  after(50).heard('stdin');
  expect(after(50).claims()).toBe(100);
});

it('claims what devices report over HTTP only with a limit of silence', () => {
  const open = contactOf();
  open.after(0).claims('http');
  expect(open.after(1).claims('http')).toBe(0);
  const { after } = contactOf(60);
  after(0).claims('http');
  after(60).heard('http');
  expect(after(60).claims('http')).toBe(120);
});

it('divides messages where a claim does not begin with the end of the one before', () => {
  const keptAt = (seconds: number, observed?: number) => ({
    at: new Date(START + seconds * 1_000).toISOString(),
    key: `${seconds}`,
    ...(observed && { observedMs: observed * 1_000 }),
  });
  const parts = partsOf([
    keptAt(0),
    keptAt(10, 10),
    keptAt(10),
    keptAt(30, 20),
    keptAt(100),
    keptAt(160, 60),
    keptAt(150, 10),
  ]);
  const seconds = (time: number) => (time - START) / 1_000;
  expect(
    parts.map(({ messages, observed }) => [
      messages.map(({ key }) => Number(key)),
      observed && [seconds(observed.from), seconds(observed.until)],
    ]),
  ).toEqual([
    [
      [0, 10, 10, 30, 100],
      [0, 30],
    ],
    [[160], [100, 160]],
    [[150], [140, 150]],
  ]);
});
