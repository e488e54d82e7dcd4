import { createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { type EventType, eventType } from '@gantry/contract/events';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type TransferFormat, transferFormats } from '../../operations/transfer/store.ts';
import type { Config } from '../../platform/config.ts';
import { CommandFailed, exitCodes, isoTime, print, printJson, reporting, WrongUsage } from './output.ts';

function eventTypesOf(text: string, before: readonly EventType[] = []): EventType[] {
  const parsed = eventType.safeParse(text);
  if (parsed.success) return [...before, parsed.data];
  throw new InvalidArgumentError(`Use one of ${eventType.options.join(', ')}.`);
}

function address(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('Use an address such as http://127.0.0.1:4000.');
}

function formatFor(file: string | undefined, given: TransferFormat | undefined): TransferFormat {
  return given ?? (file?.endsWith('.csv') ? 'csv' : 'jsonl');
}

interface ExportOptions {
  readonly format?: TransferFormat;
  readonly from?: string;
  readonly to?: string;
  readonly type?: readonly EventType[];
  readonly deviceId?: readonly string[];
  readonly json: boolean;
}

async function exportTo(path: string | undefined, options: ExportOptions): Promise<void> {
  const file = path === '-' ? undefined : path;
  if (file === undefined && options.json)
    throw new WrongUsage(
      '--json needs a file, because the events are written to standard output without one',
    );
  const { recordLookByCommand } = await import('../../accounts/by-command.ts');
  const { exportEvents } = await import('../../operations/transfer/export.ts');
  const { timeOf, withDatabase } = await import('./with-database.ts');
  const format = formatFor(file, options.format);
  const writeTo = (to: Writable): Promise<number> =>
    withDatabase(async ({ db }) => {
      const from = await timeOf(options.from, db);
      const until = await timeOf(options.to, db);
      if (from !== null && until !== null && from > until)
        throw new WrongUsage('--to is before --from: swap the times');
      const filters = {
        from,
        until,
        eventTypes: options.type ?? [],
        deviceIds: options.deviceId ?? [],
      };
      await recordLookByCommand(db, 'events export', filters);
      return exportEvents(db, filters, format, to);
    });
  if (file === undefined) {
    const count = await writeTo(process.stdout);
    process.stderr.write(`${count} events\n`);
    return;
  }
  // Written under another name first, so that the file is complete or absent.
  const draft = `${file}.part`;
  try {
    const handle = await open(draft, 'w', 0o600).catch((error: NodeJS.ErrnoException) => {
      throw new CommandFailed(`The file ${draft} cannot be written (${error.code}): choose another place`);
    });
    const to = createWriteStream(draft, { fd: handle });
    const count = await writeTo(to);
    await rename(draft, file);
    if (options.json) printJson({ file, events: count });
    else print(`${count} events were written to ${file}`);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Where the service with these settings can be reached from this machine. */
function addressOf({ HOST, PORT }: Config): string {
  const host = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST;
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`;
}

interface ImportOptions {
  readonly format?: TransferFormat;
  readonly url?: string;
  readonly deviceId?: string;
  readonly json: boolean;
}

async function openInput(file: string): Promise<Readable> {
  if (file === '-') return process.stdin;
  try {
    return (await open(file)).createReadStream();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new WrongUsage(
      code === 'ENOENT' ? `There is no file ${file}` : `The file ${file} cannot be read (${code})`,
    );
  }
}

async function importFrom(file: string, options: ImportOptions): Promise<void> {
  const { importEvents } = await import('../../operations/transfer/import.ts');
  const { readLines } = await import('../../operations/transfer/read-lines.ts');
  const { findExistingIds, listApiKeys } = await import('../../operations/transfer/store.ts');
  const { withDatabase } = await import('./with-database.ts');
  const input = await openInput(file);
  const failures: { line: number; reason: string }[] = [];
  const result = await withDatabase(async ({ db, config }) =>
    importEvents({
      lines: readLines(input, formatFor(file, options.format)),
      url: options.url ?? addressOf(config),
      apiKeys: await listApiKeys(db),
      deviceId: options.deviceId ?? null,
      findExisting: (ids) => findExistingIds(db, ids),
      onFailure: (line, reason) => {
        if (options.json) failures.push({ line, reason });
        else process.stderr.write(`Line ${line}: ${reason}\n`);
      },
    }),
  );
  if (options.json) printJson({ ...result, failures });
  else print(`${result.stored} events stored, ${result.known} known already, ${result.failed} failed`);
  if (result.failed > 0) process.exitCode = exitCodes.failed;
}

export function addEvents(program: Command): void {
  const events = program.command('events').description('Export and import events.');
  const format = () =>
    new Option('--format <format>', 'default: csv for a file that ends with .csv, otherwise jsonl').choices(
      transferFormats,
    );

  events
    .command('export')
    .description(
      'Write events as JSON lines or CSV, in the order of their times, to a file or standard output.',
    )
    .argument('[file]', 'default, and -: standard output')
    .addOption(format())
    .option('--from <time>', 'events from this time on', isoTime)
    .option('--to <time>', 'events before this time', isoTime)
    .option('--type <type>', 'events of this type; may be repeated', eventTypesOf)
    .option('--device-id <id>', 'events of this sensor; may be repeated', (id, before: string[] = []) => [
      ...before,
      id,
    ])
    .option('--json', 'print the number of events as JSON', false)
    .addHelpText(
      'after',
      `
The service may be running or not. A time without an offset, and the day that a date begins, are those of the time zone in the
settings. JSON lines are exact; in CSV, texts that a spreadsheet would take for formulas begin with
an apostrophe. Images are not exported, only their addresses.`,
    )
    .action(reporting({ what: 'Not exported.' }, exportTo));

  events
    .command('import')
    .description('Send the events of a file to the service that runs, as their sensors would.')
    .argument('<file>', 'JSON lines or CSV with a header, as written by export; - for standard input')
    .addOption(format())
    .option('--url <address>', 'the service (default: HOST and PORT of the settings)', address)
    .option('--device-id <id>', 'deviceId of the sensor of events that name none')
    .option('--json', 'print the result as JSON', false)
    .addHelpText(
      'after',
      `
Events need eventType, timestamp and deviceId; the sensors must be registered, and their keys are read from the database of
this installation. Events pass the same rules as those of devices, and have the same effects. A file that is imported again
stores nothing twice. A line that cannot be imported is reported with its number, and the rest is imported; the exit code is
then 1. Fields that the service decides itself, such as processed and locationName, are ignored.`,
    )
    .action(reporting({ what: 'Not imported.' }, importFrom));
}
