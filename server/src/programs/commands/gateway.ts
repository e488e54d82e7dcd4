import { readFile } from 'node:fs/promises';
import { connectionOptions } from '@gantry/contract/connections';
import type { FormatName } from '@gantry/device-formats/format';
import { type Command, InvalidArgumentError } from 'commander';
import { exitCodes, printJson, reporting, WrongUsage } from './output.ts';

interface TryOptions {
  readonly contentType?: string;
  readonly path: string;
  readonly topic?: string;
  readonly zone: string;
  readonly options: string;
  readonly received?: string;
}

function readOptions(json: string) {
  let given: unknown;
  try {
    given = JSON.parse(json);
  } catch {
    throw new WrongUsage('--options is not JSON: use an object such as {"speedUnit": "mph"}');
  }
  const parsed = connectionOptions.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new WrongUsage(`--options: ${[issue?.path.join('.'), issue?.message].filter(Boolean).join(': ')}`);
}

async function readTime(text: string | undefined, zone: string): Promise<number> {
  const { machineTime } = await import('../../platform/machine-time.ts');
  const { isoTime } = await import('@gantry/device-formats/device-time');
  const time = text === undefined ? machineTime() : isoTime(text, zone);
  if (time !== null) return time;
  throw new WrongUsage(`--received must be a time such as 2026-01-31T08:15:00Z, not ${text}`);
}

function zoneOf(name: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone && name;
  } catch {
    throw new InvalidArgumentError(`There is no time zone ${name}: use one such as Europe/Berlin`);
  }
}

async function bodyOf(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new WrongUsage(
      code === 'ENOENT' ? `There is no file ${file}` : `The file ${file} cannot be read: ${code}`,
    );
  }
}

async function tryFile(name: string, file: string, given: TryOptions): Promise<void> {
  const { formats } = await import('@gantry/device-formats');
  const names = formats.map((format) => format.name);
  if (!names.includes(name as FormatName))
    throw new WrongUsage(`There is no format ${name}: use one of ${names.join(', ')}`);
  const { tryBody } = await import('@gantry/device-formats/try-body');
  const { Mapper } = await import('@gantry/device-formats/mapper');
  const { mappingProgram } = await import('../../platform/installation.ts');
  using mapper = new Mapper(mappingProgram);
  const { isRefused, ...tried } = await tryBody({
    format: name as FormatName,
    options: readOptions(given.options),
    receivedAt: await readTime(given.received, given.zone),
    body: await bodyOf(file),
    contentType: given.contentType ?? null,
    path: given.path,
    topic: given.topic ?? null,
    zone: given.zone,
    map: mapper.map,
  });
  printJson(tried);
  if (isRefused) process.exitCode = exitCodes.failed;
}

export function addGateway(program: Command): void {
  const gateway = program.command('gateway').description('Try what messages of devices become.');
  gateway
    .command('try')
    .description(
      "Print as JSON what the body of a device's message in a file would become: its parts, what the format reads in it, and the events as they would be stored. Nothing is stored.",
    )
    .argument('<format>', 'format of the message, as in docs/devices.md')
    .argument('<file>', 'file with the body')
    .option('--content-type <type>', 'the header Content-Type of the message')
    .option('--path <path>', 'the path below the address of the connection', '')
    .option('--topic <topic>', 'the MQTT topic, instead of HTTP')
    .option('--zone <zone>', 'IANA time zone of times without an offset', zoneOf, 'UTC')
    .option('--options <json>', 'options of the connection, such as \'{"speedUnit": "mph"}\'', '{}')
    .option('--received <time>', 'when the message arrived, ISO 8601 (default: now)')
    .addHelpText(
      'after',
      '\nExits with 1 if the message is unreadable or an event is refused, and with 2 if it could not be tried.',
    )
    .action(reporting({ what: 'Not tried.', code: exitCodes.usage }, tryFile));
}
