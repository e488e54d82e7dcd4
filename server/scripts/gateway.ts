import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { connectionOptions } from '@gantry/contract/connections';
import { IANAZone } from 'luxon';
import { believedTime, composeEvent } from '../src/connections/compose.ts';
import { isoTime } from '../src/connections/device-time.ts';
import type { FormatName } from '../src/connections/format.ts';
import { formatNamed, formats } from '../src/connections/formats.ts';
import { createMapper } from '../src/connections/mapper.ts';
import { readParts } from '../src/connections/read-parts.ts';
import { splitBody } from '../src/connections/split-body.ts';

const HELP = `npm run gateway -- try <format> <file> [options]

Prints what the body of a device's message in a file would become: its parts, what the format reads in it, and the events as
they would be stored. Nothing is stored. Exits with 1 if the message is unreadable or an event is refused, and with 2 if it
could not be tried.

  --content-type <type>  the header Content-Type of the message
  --path <path>          the path below the address of the connection
  --topic <topic>        the MQTT topic, instead of HTTP
  --zone <zone>          IANA time zone of times without an offset (default UTC)
  --options <json>       options of the connection, such as '{"speedUnit": "mph"}'
  --received <time>      when the message arrived, ISO 8601 (default: now)

Formats: ${formats.map(({ name }) => name).join(', ')}
`;

/** What is wrong with the arguments, as a sentence. */
class Refused extends Error {}

const print = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);

const nameOf = (text: string | undefined): FormatName => {
  const found = formats.find(({ name }) => name === text);
  if (found) return found.name;
  throw new Refused(`There is no format ${text}: use one of ${formats.map(({ name }) => name).join(', ')}`);
};

const optionsOf = (json: string) => {
  let given: unknown;
  try {
    given = JSON.parse(json);
  } catch {
    throw new Refused('--options is not JSON: use an object such as {"speedUnit": "mph"}');
  }
  const parsed = connectionOptions.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Refused(`--options: ${[issue?.path.join('.'), issue?.message].filter(Boolean).join(': ')}`);
};

const receivedOf = (text: string | undefined): number => {
  if (text === undefined) return Date.now();
  const time = isoTime(text, 'UTC');
  if (time === null) throw new Refused(`--received must be a time such as 2026-01-31T08:15:00Z, not ${text}`);
  return time;
};

const bodyOf = (file: string): Promise<Buffer> =>
  readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new Refused(
      error.code === 'ENOENT' ? `There is no file ${file}` : `The file ${file} cannot be read: ${error.code}`,
    );
  });

const run = async (): Promise<void> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'content-type': { type: 'string' },
      path: { type: 'string', default: '' },
      topic: { type: 'string' },
      zone: { type: 'string', default: 'UTC' },
      options: { type: 'string', default: '{}' },
      received: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  const [command, formatName, file] = positionals;
  if (command !== 'try' || file === undefined) {
    throw new Refused('Use: npm run gateway -- try <format> <file>, or --help');
  }
  const format = formatNamed(nameOf(formatName));
  const { zone } = values;
  if (!IANAZone.isValidZone(zone))
    throw new Refused(`There is no time zone ${zone}: use one such as Europe/Berlin`);
  const options = optionsOf(values.options);
  const receivedAt = receivedOf(values.received);
  const split = await splitBody(values['content-type'] ?? null, await bodyOf(file));
  using mapper = createMapper();
  const message = {
    parts: readParts(split.parts),
    path: values.path,
    topic: values.topic ?? null,
    receivedAt,
  };
  const reading = await format.read(message, { options, zone, map: mapper.map });
  const events = reading.reports.map((report, index) =>
    composeEvent(report, {
      receivedAt,
      believedAt: believedTime(report.occurredAt, receivedAt, null),
      connectionId: 'connection',
      messageId: 'message',
      index,
    }),
  );
  print({
    parts: split.parts.map(({ base64, ...part }) => ({
      ...part,
      ...(base64 && { base64: `${base64.length} characters` }),
    })),
    pictures: split.pictures.map(({ sha256, mediaType, bytes }) => ({
      sha256,
      mediaType,
      bytes: bytes.length,
    })),
    flaws: split.flaws,
    reading: {
      is: reading.is,
      note: reading.note,
      device: reading.device,
      reports: reading.reports.map(({ event: _, ...report }) => report),
    },
    events: events.map((each) => ('event' in each ? each.event : each)),
  });
  if (reading.is === 'unreadable' || events.some((each) => 'refusal' in each)) process.exitCode = 1;
};

run().catch((error: unknown) => {
  const isUsage = error instanceof Refused || (error instanceof TypeError && 'code' in error);
  process.stderr.write(`Not tried. ${isUsage ? error.message : String(error)}\n`);
  process.exitCode = 2;
});
