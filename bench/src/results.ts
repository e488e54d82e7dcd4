import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Machine } from './machine.ts';

const FOLDER = fileURLToPath(new URL('../results/', import.meta.url));

/** The result of a benchmark. */
export interface Results {
  /** The name of the benchmark, such as `ingest`. */
  readonly name: string;
  readonly date: Date;
  readonly machine: Machine;
  /** The relevant options of the command. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Its tables and verdicts as Markdown. */
  readonly text: string;
  /** All measurements, machine-readable. */
  readonly data: unknown;
}

/** The results as Markdown, with the date, the machine and the options. */
function asMarkdown({ name, date, machine, options, text }: Results): string {
  const { processor, cores, memoryGb, system, node, postgresql, commit } = machine;
  const called = Object.entries(options).map(([key, value]) => `${key} ${String(value)}`);
  return [
    `# ${name}, ${date.toISOString().slice(0, 10)}`,
    '',
    `Commit ${commit} · ${processor}, ${cores} cores, ${memoryGb} GB · ${system} · Node ${node} · PostgreSQL ${postgresql}`,
    `Options: ${called.join(', ')}`,
    '',
    text,
    '',
  ].join('\n');
}

/** The results in machine-readable form. */
export function asJson({ name, date, machine, options, data }: Results): string {
  return `${JSON.stringify({ name, date, machine, options, data }, null, 2)}\n`;
}

/** Stores the results in bench/results, as `<date>-<name>.md` and `.json`. @returns the path of the Markdown file */
async function saveResults(results: Results): Promise<string> {
  const base = `${FOLDER}${results.date.toISOString().slice(0, 10)}-${results.name}`;
  await mkdir(FOLDER, { recursive: true });
  await writeFile(`${base}.json`, asJson(results));
  await writeFile(`${base}.md`, asMarkdown(results));
  return `${base}.md`;
}

/** How the results are output. */
export interface Output {
  /** Whether to print them in machine-readable form. */
  readonly json: boolean;
  /** Whether to store them in bench/results. */
  readonly save: boolean;
}

/** Prints the results, and stores them if requested. */
export async function publish(results: Results, { json, save }: Output): Promise<void> {
  process.stdout.write(json ? asJson(results) : `\n${asMarkdown(results)}`);
  if (save) process.stderr.write(`Saved in ${await saveResults(results)}\n`);
}
