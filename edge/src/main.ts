import { Command, InvalidArgumentError } from 'commander';
import { runEdge } from './edge.ts';

interface Options {
  readonly url?: string;
  readonly apiKey?: string;
  readonly connection?: string;
  readonly spool: string;
  readonly maxMegabytes: number;
  readonly stdin: boolean;
  readonly serial?: string;
  readonly baud: number;
  readonly listen?: { host: string; port: number };
  readonly maxSilence?: number;
}

const MEGABYTE = 1024 * 1024;

const program = new Command('gantry-edge')
  .description(
    'Runs beside a device: keeps what it reports on the disk and sends it to Gantry, once and oldest first, also after days without a link.',
  )
  .option('--url <url>', 'the address of Gantry, https://gantry.example.org for example (GANTRY_URL)')
  .option('--api-key <key>', 'the key of the sensor; rather set GANTRY_API_KEY, which other users do not see')
  .option(
    '--connection <url>',
    'the address of a connection, for messages in the own format of the device (GANTRY_CONNECTION)',
  )
  .option('--spool <folder>', 'where messages are kept until they are sent', 'gantry-spool')
  .option('--max-megabytes <n>', 'maximum size of what is not sent; then inputs wait', positive, 1024)
  .option('--no-stdin', 'do not read standard input')
  .option('--serial <path>', 'read lines from a serial line, /dev/ttyUSB0 for example')
  .option('--baud <n>', 'speed of the serial line in bits per second', positive, 19_200)
  .option('--listen <[host:]port>', 'accept events with POST /events on this port', listenAddress)
  .option(
    '--max-silence <seconds>',
    'a device that works reports at least this often: an event, an empty line, or POST /events with []',
    positive,
  );

function positive(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number <= 0)
    throw new InvalidArgumentError('It must be a whole number above 0.');
  return number;
}

function listenAddress(text: string): { host: string; port: number } {
  const found = /^(?:(.+):)?(\d{1,5})$/.exec(text);
  const port = Number(found?.[2] ?? Number.NaN);
  if (!found || port > 65_535) throw new InvalidArgumentError('It must be a port, or host:port.');
  return { host: found[1] ?? '127.0.0.1', port };
}

function targetOf(options: Options) {
  const { GANTRY_URL, GANTRY_API_KEY, GANTRY_CONNECTION } = process.env;
  const connection = options.connection ?? GANTRY_CONNECTION;
  const url = options.url ?? GANTRY_URL;
  const apiKey = options.apiKey ?? GANTRY_API_KEY;
  if (connection && !url) return { connection: checked(connection) };
  if (url && apiKey && !connection) return { url: checked(url), apiKey };
  return program.error('error: give --url with GANTRY_API_KEY, or --connection, and not both');
}

function checked(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    return program.error(`error: ${url} is not an http or https address`);
  }
  return url;
}

const options = program.parse().opts<Options>();
const to = targetOf(options);
const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ending.abort());

try {
  await runEdge({
    to,
    folder: options.spool,
    maxBytes: options.maxMegabytes * MEGABYTE,
    stdin: options.stdin,
    ...(options.serial && { serial: { path: options.serial, baud: options.baud } }),
    ...(options.listen && { listen: options.listen }),
    maxSilenceMs: options.maxSilence === undefined ? null : options.maxSilence * 1_000,
    log: (message) => process.stderr.write(`${new Date().toISOString()} ${message}\n`),
    signal: ending.signal,
  });
  process.exit(0);
} catch (error) {
  process.stderr.write(`gantry-edge: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
