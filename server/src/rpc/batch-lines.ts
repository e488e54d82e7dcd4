import type { Answer } from './dispatch.ts';
import { metaText } from './output.ts';

/** The type of the lines, and what a streaming link of tRPC asks for. */
export const LINES_TYPE = 'application/jsonl';

const line = (json: string, values: string | null = null): string => `{"json":${json}${metaText(values)}}\n`;

// In tRPC's notation [[0], [null, 0, 3]] says "a value that follows in the lines of number 3",
// and [3, 0, [[value]]] is such a line.
const announced = (position: number) => [[0], [null, 0, position]];

const lineOf = (position: number, { outcome }: Answer): string => {
  if ('error' in outcome) return line(`[${position},0,[[{"error":${JSON.stringify(outcome.error)}}]]]`);
  const { json, values } = outcome.result;
  return line(
    `[${position},0,[[{"result":{"data":${json}}}]]]`,
    values === null ? null : `{"2.0.0.result.data":${values}}`,
  );
};

/** A batch as tRPC's streaming link reads it: a head that announces every answer, then each one as it comes. */
export const streamLines = async function* (answers: readonly Promise<Answer>[]): AsyncGenerator<string> {
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
};
