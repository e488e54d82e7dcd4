import type { Readable } from 'node:stream';
import { unguardText } from '@gantry/contract/csv-text';
import { type CsvError, parse } from 'csv-parse';
import type { TransferFormat } from './store.ts';

/** An event of a file, with the number of its line (the last one, for CSV cells of several lines); or what is wrong there. */
export type ReadLine =
  | { readonly line: number; readonly event: Readonly<Record<string, unknown>> }
  | { readonly line: number; readonly flaw: string };

/** The columns of a CSV file that contain JSON. */
const JSON_COLUMNS = ['location', 'metadata', 'images', 'tags', 'vehicleClass', 'movement'];

/** The columns of a CSV file that contain numbers. */
const NUMBER_COLUMNS = ['vehicleSpeed', 'vehicleLength', 'headway', 'gap', 'occupancyMs', 'plateConfidence'];

const NUMBER = /^\s*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?\s*$/i;

/** Reads the events of a file, with those that cannot be read as flaws. @throws Error when the file itself cannot be read */
export function readLines(input: Readable, format: TransferFormat): AsyncGenerator<ReadLine> {
  return format === 'csv' ? readCsv(input) : readJson(input);
}

async function* readJson(input: Readable): AsyncGenerator<ReadLine> {
  let line = 0;
  for await (const text of linesOf(input)) {
    line++;
    if (text.trim() === '') continue;
    yield { line, ...parseJson(text) };
  }
}

/**
 * The lines of a text in UTF-8, without a byte order mark. The lines of node:readline are not used, because those of newer
 * versions of Node.js also end at U+2028 and U+2029, which a text in JSON may contain.
 */
async function* linesOf(input: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of input) {
    const [first = '', ...others] = decoder.decode(chunk as Buffer, { stream: true }).split('\n');
    rest += first;
    for (const line of others) {
      yield rest;
      rest = line;
    }
  }
  yield rest;
}

function parseJson(text: string) {
  try {
    const event: unknown = JSON.parse(text);
    if (typeof event === 'object' && event !== null && !Array.isArray(event))
      return { event: event as Record<string, unknown> };
  } catch {
    return { flaw: 'it is not JSON' };
  }
  return { flaw: 'it is not a JSON object' };
}

interface CsvRecord {
  readonly info: { readonly lines: number };
  readonly record: Readonly<Record<string, string>>;
}

async function* readCsv(input: Readable): AsyncGenerator<ReadLine> {
  const skipped: ReadLine[] = [];
  const parser = parse({
    bom: true,
    columns: true,
    info: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    max_record_size: 20_000_000,
    on_skip: (error: CsvError | undefined) => {
      skipped.push({ line: Number(error?.lines ?? 0), flaw: error?.message ?? 'it is not CSV' });
      return undefined;
    },
  });
  input.on('error', (error) => parser.destroy(error));
  for await (const each of input.pipe(parser)) {
    yield* skipped.splice(0);
    const { info, record } = each as CsvRecord;
    yield { line: info.lines, ...eventOf(record) };
  }
  yield* skipped;
}

function eventOf(record: Readonly<Record<string, string>>) {
  const event: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(record)) {
    if (text === '') continue;
    if (NUMBER_COLUMNS.includes(name)) {
      if (!NUMBER.test(text)) return { flaw: `${name} is not a number such as 63.5: ${text.slice(0, 50)}` };
      event[name] = Number(text);
    } else if (JSON_COLUMNS.includes(name)) {
      try {
        event[name] = JSON.parse(unguardText(text));
      } catch {
        return { flaw: `${name} is not JSON` };
      }
    } else if (name === 'direction' && NUMBER.test(text)) event[name] = Number(text);
    else event[name] = unguardText(text);
  }
  return { event };
}
