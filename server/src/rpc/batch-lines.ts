import type { Answer } from './dispatch.ts';
import { metaText } from './output.ts';

/** The media type of the lines, which tRPC's streaming link requests. */
export const LINES_TYPE = 'application/jsonl';

/**
 * A batch in the format of tRPC's streaming link: a head that announces all answers, then each answer when it is
 * ready.
 */
export async function* streamLines(answers: readonly Promise<Answer>[]): AsyncGenerator<string> {
  yield line(
    JSON.stringify(Object.fromEntries(answers.map((_, position) => [position, announced(position)]))),
  );
  const pending = new Map(
    answers.map((answer, position) => [position, answer.then((settled) => ({ position, settled }))]),
  );
  while (pending.size > 0) {
    const { position, settled } = await Promise.race(pending.values());
    pending.delete(position);
    yield lineOf(position, settled);
  }
}

function line(json: string, values: string | null = null): string {
  return `{"json":${json}${metaText(values)}}\n`;
}

// In tRPC's notation, [[0], [null, 0, 3]] announces a value that follows in the lines of number 3, and [3, 0,
// [[value]]] is such a line.
function announced(position: number) {
  return [[0], [null, 0, position]];
}

function lineOf(position: number, { outcome }: Answer): string {
  if ('error' in outcome) return line(`[${position},0,[[{"error":${JSON.stringify(outcome.error)}}]]]`);
  const { json, values } = outcome.result;
  return line(
    `[${position},0,[[{"result":{"data":${json}}}]]]`,
    values === null ? null : `{"2.0.0.result.data":${values}}`,
  );
}
