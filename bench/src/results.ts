import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Machine } from './machine.ts';

const FOLDER = fileURLToPath(new URL('../results/', import.meta.url));

/** What a benchmark found. */
export interface Results {
  /** The name of the benchmark, such as `ingest`. */
  readonly name: string;
  readonly date: Date;
  readonly machine: Machine;
  /** How it was called: the options that matter. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Its tables and verdicts, as Markdown. */
  readonly text: string;
  /** Everything that was measured, for machines. */
  readonly data: unknown;
}

/** The results for people, with where and when they were measured. */
export function asMarkdown({ name, date, machine, options, text }: Results): string {
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

/** The results for machines. */
export function asJson({ name, date, machine, options, data }: Results): string {
  return `${JSON.stringify({ name, date, machine, options, data }, null, 2)}\n`;
}

/** Keeps the results in bench/results, as `<date>-<name>.md` and `.json`. @returns the path of the former */
export async function saveResults(results: Results): Promise<string> {
  const base = `${FOLDER}${results.date.toISOString().slice(0, 10)}-${results.name}`;
  await mkdir(FOLDER, { recursive: true });
  await writeFile(`${base}.json`, asJson(results));
  await writeFile(`${base}.md`, asMarkdown(results));
  return `${base}.md`;
}

/** What becomes of the results. */
export interface Output {
  /** Print them for machines, not for people. */
  readonly json: boolean;
  /** Keep them in bench/results. */
  readonly save: boolean;
}

/** Prints the results, and keeps them if that is wanted. */
export async function publish(results: Results, { json, save }: Output): Promise<void> {
  process.stdout.write(json ? asJson(results) : `\n${asMarkdown(results)}`);
  if (save) process.stderr.write(`Saved in ${await saveResults(results)}\n`);
}
