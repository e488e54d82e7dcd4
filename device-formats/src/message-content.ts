import { type Reading, without } from './format.ts';
import type { DeviceMessage } from './message.ts';

/** The values of the JSON parts, in their order. */
export function jsonValues(message: DeviceMessage): unknown[] {
  return message.parts.flatMap(({ content }) => (content.kind === 'json' ? [content.value] : []));
}

/** The addresses of the images that came as parts of their own, in their order. */
export function picturesOf(message: DeviceMessage): string[] {
  return message.parts.flatMap(({ content }) => (content.kind === 'picture' ? [content.address] : []));
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
      return content.kind === 'picture' ? [[name, content.address]] : [];
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
