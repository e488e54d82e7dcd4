import { hash } from 'node:crypto';
import { storable } from './compose.ts';
import { type ObservedPeriod, type Reading, type Report, without } from './format.ts';
import type { DeviceMessage } from './message.ts';
import { countsRead, joinedPeriods } from './periods.ts';

/** The values of the JSON parts, in their order. */
export function jsonValues(message: DeviceMessage): unknown[] {
  return message.parts.flatMap(({ content }) => (content.kind === 'json' ? [content.value] : []));
}

/** The addresses of the images that came as parts of their own, in their order. */
export function imagesIn(message: DeviceMessage): string[] {
  return message.parts.flatMap(({ content }) => (content.kind === 'image' ? [content.address] : []));
}

/** The texts of parts that are neither JSON nor XML, in their order. */
export function textsOf(message: DeviceMessage): string[] {
  return message.parts.flatMap(({ content }) => (content.kind === 'text' ? [content.text] : []));
}

/** The fields of a form or multipart body by their names; values in JSON are parsed. */
export function formFields(message: DeviceMessage): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    message.parts.flatMap(({ name, content }) => {
      if (name === null) return [];
      if (content.kind === 'text') return [[name, content.text]];
      if (content.kind === 'json') return [[name, content.value]];
      return content.kind === 'image' ? [[name, content.address]] : [];
    }),
  );
}

/**
 * The reading of a message in which a format found nothing.
 * @param expected what the format reads: `a webhook of Plate Recognizer` for example
 */
export function notRead(message: DeviceMessage, expected: string): Reading {
  for (const { content } of message.parts) {
    if (content.kind === 'unreadable') return without('unreadable', content.reason);
  }
  const isEmpty = message.parts.every(({ content }) => content.kind === 'text' && content.text.trim() === '');
  return isEmpty
    ? without('nothing', 'The message is empty')
    : without('nothing', `The message is not ${expected}`);
}

/** Why no part of a message can be read, as a sentence; null if one can. */
export function refusalOfContent({ parts }: DeviceMessage): string | null {
  const reasons = parts.map(({ content }) => (content.kind === 'unreadable' ? content.reason : null));
  return reasons.includes(null) ? null : (reasons[0] ?? null);
}

/**
 * What one item of a message is: a report, perhaps with a warning about it, the count of an interval, or something else with a
 * sentence about it.
 */
export type Found =
  | { readonly report: Report; readonly warning?: string | null }
  | { readonly period: ObservedPeriod }
  | { readonly is: Exclude<Reading['is'], 'reports'>; readonly note: string };

/** The outcomes of a message without reports. The first one that occurs describes the message. */
const ORDER = ['aggregate', 'status', 'heartbeat', 'nothing', 'unreadable'] as const;

/** The reading of a message with several items: the reports, the counts, and a note about the others. */
export function readingOfAll(found: readonly Found[], ifNone: string, device?: readonly string[]): Reading {
  const reports = found.flatMap((each) => ('report' in each ? each.report : []));
  const periods = joinedPeriods(found.flatMap((each) => ('period' in each ? each.period : [])));
  const others = found.flatMap((each) => ('note' in each ? each : []));
  const warnings = found.flatMap((each) => ('report' in each ? (each.warning ?? []) : []));
  const said = [...(periods.length > 0 ? [countsRead(periods)] : []), ...others.map(({ note }) => note)];
  const notes = [...new Set([...said, ...warnings])].slice(0, 10).join('; ');
  if (reports.length > 0) {
    return { reports, ...(periods.length > 0 && { periods }), is: 'reports', note: notes || null };
  }
  if (periods.length > 0) return { ...without('aggregate', notes, device), periods };
  const is = ORDER.find((each) => others.some((other) => other.is === each));
  return is ? without(is, notes, device) : without('nothing', ifNone, device);
}

/** Maximum length of a key, in characters. */
const MAX_LENGTH = 200;

/**
 * A key of a report or an id of a passage from what identifies it; absent parts are empty. One that would be too long,
 * because a device sends long file names for example, is replaced by its hash.
 */
export function reportKey(...parts: readonly (string | number | null | undefined)[]): string {
  const key = storable(parts.map((part) => part ?? '').join('|'));
  return key.length <= MAX_LENGTH ? key : hash('sha256', key);
}
