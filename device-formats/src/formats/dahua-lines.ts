import { parse } from 'secure-json-parse';

/** Maximum number of lines that are read; no event has as many. */
const MAX_LINES = 5_000;
/** Maximum index in an array; no event has arrays as long. */
const MAX_INDEX = 200;
const MAX_STEPS = 12;

/** A line about an event; the answers to requests have names such as `ReturnEvents`. */
const EVENT_LINE = /^\s*(?:Return)?Events(\[\d{1,3}\][\w[\].-]*)\s?=(.*)$/i;

type Branch = Record<string, unknown>;

/**
 * The values of a text of lines: `Events[0].TrafficCar.Lane=1` or `ReturnEvents[0].…` as a tree, and `Code=X;action=Y;index=0;data={…}` as an
 * event. Empty when the text has neither.
 */
export function valuesOfLines(text: string): unknown[] {
  const coded =
    /^\s*Code=([^;\s]+);\s*action=([^;\s]+)(?:;\s*index=([^;\s]+))?(?:;\s*data=([\s\S]*))?$/i.exec(text);
  if (coded) {
    const [, Code, Action, Index, data] = coded;
    return [{ Code, Action, Index, Data: jsonOf(data) ?? {} }];
  }
  const root: Branch = Object.create(null);
  let found = 0;
  for (const line of text.split(/\r?\n/, MAX_LINES)) {
    const pair = EVENT_LINE.exec(line);
    if (pair && place(root, `Events${pair[1]}`, pair[2]?.trim() ?? '')) found++;
  }
  return found > 0 ? [asArrays(root)] : [];
}

function jsonOf(text: string | undefined): unknown {
  try {
    return parse(text ?? '', undefined, { protoAction: 'remove', constructorAction: 'remove' });
  } catch {
    return null;
  }
}

/** Puts the value at the path; false when the path is not one that devices use. */
function place(root: Branch, path: string, value: string): boolean {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '');
  if (steps.length > MAX_STEPS || steps.some((step) => /^\d+$/.test(step) && Number(step) > MAX_INDEX)) {
    return false;
  }
  let branch = root;
  for (const step of steps.slice(0, -1)) {
    const next = branch[step];
    if (typeof next === 'object') branch = next as Branch;
    else {
      const added: Branch = Object.create(null);
      branch[step] = added;
      branch = added;
    }
  }
  const last = steps.at(-1);
  if (last !== undefined && typeof branch[last] !== 'object') branch[last] = value;
  return true;
}

/** Converts objects whose keys are all numbers to arrays. */
function asArrays(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  if (entries.every(([key]) => /^\d+$/.test(key))) {
    return entries.sort(([a], [b]) => Number(a) - Number(b)).map(([, each]) => asArrays(each));
  }
  return Object.fromEntries(
    entries.filter(([key]) => key !== '__proto__').map(([key, each]) => [key, asArrays(each)]),
  );
}
