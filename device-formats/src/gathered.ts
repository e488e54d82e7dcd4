import { type Reading, type Report, without } from './format.ts';

/** What one item of a message is: a report, perhaps with a warning about it, or something else with a sentence about it. */
export type Found =
  | { readonly report: Report; readonly warning?: string | null }
  | { readonly is: Exclude<Reading['is'], 'reports'>; readonly note: string };

/** The outcomes of a message without reports. The first one that occurs describes the message. */
const ORDER = ['aggregate', 'status', 'heartbeat', 'nothing', 'unreadable'] as const;

/** The reading of a message with several items: the reports, and a note about the others. */
export function readingOfAll(found: readonly Found[], ifNone: string): Reading {
  const reports = found.flatMap((each) => ('report' in each ? each.report : []));
  const others = found.flatMap((each) => ('report' in each ? [] : each));
  const warnings = found.flatMap((each) => ('report' in each ? (each.warning ?? []) : []));
  const notes = [...new Set([...others.map(({ note }) => note), ...warnings])].slice(0, 10).join('; ');
  if (reports.length > 0) return { reports, is: 'reports', note: notes || null };
  const is = ORDER.find((each) => others.some((other) => other.is === each));
  return is ? without(is, notes) : without('nothing', ifNone);
}
