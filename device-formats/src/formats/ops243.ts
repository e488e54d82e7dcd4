import { epochTime, reportedTime, type Zone } from '../device-time.ts';
import { type ConnectionValues, type Format, type ReadingContext, type Report, without } from '../format.ts';
import { objectOf, textOf } from '../json-values.ts';
import { kindOf, measured, numberOf, speedOf } from '../observed.ts';
import { passageFieldsOf } from '../passage.ts';
import { type Found, readingOfAll } from '../reading.ts';

type Direction = 'approaching' | 'receding';

/** One radar reading; a passing vehicle produces many. */
interface Sample {
  /** km/h, without a sign; null when nothing moves */
  readonly speed: number | null;
  readonly direction: Direction | null;
  readonly raw: unknown;
  readonly time: unknown;
}

/** The units that the radar names, in km/h. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ['mps', 3.6],
  ['m/s', 3.6],
  ['mph', 1.609344],
  ['kmph', 1],
  ['kph', 1],
  ['km/h', 1],
  ['fps', 1.09728],
  ['cmps', 0.036],
]);

/** Samples further apart belong to different vehicles, in milliseconds. */
const GAP_MS = 2_000;

/**
 * OmniPreSense OPS241 to OPS243 radars, whose lines an edge program forwards: reports of objects (command OC; tested with
 * a captured payload), detected velocities (ON) and single samples, as JSON lines, as `"mps",12.3`, or as the frames
 * `A+045` of other radars. Samples that follow one another in a message are one vehicle, with its highest speed.
 */
export const ops243: Format = {
  name: 'ops243',
  label: 'OmniPreSense OPS243 radar',
  transports: ['http', 'mqtt'],
  authentication: ['basic', 'header', 'mqtt'],
  repeats: false,
  // Seconds later, an equal frame such as `A+045` is from another vehicle.
  repetitionMs: 5_000,
  read({ parts }, context) {
    const found: Found[] = [];
    for (const { content } of parts) {
      if (content.kind === 'json') {
        found.push(...foundIn(Array.isArray(content.value) ? content.value : [content.value], context));
      } else if (content.kind === 'text') found.push(...foundInText(content.text, context));
      else if (content.kind === 'unreadable') found.push({ is: 'unreadable', note: content.reason });
    }
    return found.length === 0
      ? without('unreadable', 'The message has no line of a radar')
      : readingOfAll(found, '');
  },
  instructions: ({ url, token }: ConnectionValues) => [
    'Connect the radar to a computer by USB (any baud rate) or its serial port (19200 baud unless it was set otherwise; the command I? shows it).',
    'Send the radar the commands OJ (JSON), OC (a report for each object with its highest speed and its length) and US (mph), UK (km/h) or UM (m/s); save them with A!.',
    'Run gantry-edge on that computer with the serial port as its input, and its baud rate as --baud. It adds the time, keeps the lines on disk while there is no link, and sends them.',
    `Enter as its address ${url}, or the token ${token} as a header "Authorization: Bearer". A program of your own may POST the lines as they come, several in one message.`,
    'Without OC, every line that gantry-edge sends becomes an event, so that a vehicle is several; a program of your own should POST the lines of a vehicle together. Set the option speedUnit of the connection if the lines do not name a unit; otherwise m/s is assumed, and km/h for lines such as A+045.',
  ],
};

function foundInText(text: string, context: ReadingContext): Found[] {
  const samples: (Sample | null)[] = [];
  for (const line of text.split(/[\r\n]+/)) {
    for (const frame of line.split(/\s(?=A[+-])/)) samples.push(sampleOfFrame(frame.trim(), context));
  }
  const read = samples.filter((each) => each !== null);
  if (read.length === 0) return [{ is: 'unreadable', note: 'The message has no line of a radar' }];
  return vehiclesOf(read, context);
}

/** The sample of `A+045` (km/h), `"mps",12.3` or `-12.3`. */
function sampleOfFrame(frame: string, { options }: ReadingContext): Sample | null {
  const serial = /^A([+-])(\d{3})$/.exec(frame);
  if (serial) {
    const speed = speedOf(serial[2], options.speedUnit ?? 'km/h');
    return { speed, direction: serial[1] === '+' ? 'approaching' : 'receding', raw: frame, time: null };
  }
  const named = /^"?([a-z/]+)"?\s*,\s*"?([+-]?\d+(?:\.\d+)?)"?/i.exec(frame);
  const bare = /^([+-]?\d+(?:\.\d+)?)$/.exec(frame);
  const value = named?.[2] ?? bare?.[1];
  if (value === undefined || (named && !UNITS.has(named[1]?.toLowerCase() ?? ''))) return null;
  return { ...speedWith(numberOf(value), named?.[1], options.speedUnit), raw: frame, time: null };
}

function foundIn(lines: readonly unknown[], context: ReadingContext): Found[] {
  const samples: Sample[] = [];
  const found: Found[] = [];
  for (const line of lines) {
    const given = objectOf(line);
    if (
      'classifier' in given ||
      'max_speed_mps' in given ||
      'max_speed_mph' in given ||
      'max_speed_kmph' in given
    ) {
      found.push({ report: objectReport(given, context) });
    } else if ('speed' in given || 'DetectedObjectVelocity' in given) {
      const value = given.DetectedObjectVelocity ?? given.speed;
      const speed = numberOf(Array.isArray(value) ? value[0] : value);
      const named = textOf(given.direction)?.toLowerCase() ?? null;
      const sample = speedWith(speed, textOf(given.unit ?? given.units), context.options.speedUnit);
      const direction = named === null ? sample.direction : directionOf(named);
      samples.push({ ...sample, direction, raw: line, time: given.time ?? given.timestamp });
    } else if (Object.keys(given).some((key) => /counts?$/i.test(key))) {
      found.push({ is: 'aggregate', note: 'Counts of the radar are not events' });
    } else if (Object.keys(given).length > 0) {
      found.push({ is: 'status', note: 'A line of the radar about itself' });
    } else found.push({ is: 'unreadable', note: 'A line is not a JSON object' });
  }
  return [...found, ...vehiclesOf(samples, context)];
}

function objectReport(given: Readonly<Record<string, unknown>>, { options, zone }: ReadingContext): Report {
  const { classifier, start_time: start, end_time: end, max_speed_mps: mps, max_speed_mph: mph } = given;
  const speed =
    speedOf(mps, 'm/s') ??
    speedOf(mph, 'mph') ??
    speedOf(given.max_speed_kmph) ??
    speedOf(given.max_speed, options.speedUnit ?? 'm/s');
  return {
    // A radar without a clock counts the time from its start, so its times repeat.
    key:
      epochTime(start) === null
        ? null
        : `${textOf(classifier) ?? 'object'}@${textOf(start)}-${textOf(end) ?? ''}`,
    device: [],
    ...reportedTime(zone, ['start_time', start], ['end_time', end]),
    event: {
      ...kindOf({ speed }),
      ...passageFieldsOf({ direction: directionOf(textOf(classifier) ?? ''), length: given.length_m }),
      vehicleSpeed: speed,
      tags: ['OPS243'],
      metadata: {
        vendor: 'ops243',
        direction: directionOf(textOf(classifier) ?? ''),
        classifier: textOf(classifier),
        lengthMetres: measured(given.length_m),
        durationMs: measured(given.delta_time_msec),
        raw: given,
      },
    },
  };
}

/** A vehicle for each run of samples in one direction. */
function vehiclesOf(samples: readonly Sample[], { zone }: ReadingContext): Found[] {
  const runs: Sample[][] = [];
  let run: Sample[] = [];
  for (const sample of samples) {
    const before = run.at(-1);
    const [at, last] = [epochTime(sample.time), epochTime(before?.time)];
    const isApart = at !== null && last !== null && Math.abs(at - last) > GAP_MS;
    if (sample.speed === null || isApart || (before && before.direction !== sample.direction)) run = [];
    if (sample.speed === null) continue;
    if (run.length === 0) runs.push(run);
    run.push(sample);
  }
  if (runs.length === 0 && samples.length > 0) {
    return [{ is: 'nothing', note: 'The radar measured no movement' }];
  }
  return runs.map((each) => ({ report: reportOfRun(each, zone) }));
}

function reportOfRun(run: readonly Sample[], zone: Zone): Report {
  const fastest = run.reduce((best, each) => ((each.speed ?? 0) > (best.speed ?? 0) ? each : best));
  const time = reportedTime(zone, ['time', run[0]?.time]);
  return {
    key: time.occurredAt === null ? null : `${fastest.direction ?? 'moving'}@${textOf(run[0]?.time)}`,
    device: [],
    ...time,
    event: {
      ...kindOf({ speed: fastest.speed }),
      ...passageFieldsOf({ direction: fastest.direction }),
      vehicleSpeed: fastest.speed,
      tags: ['OPS243'],
      metadata: {
        vendor: 'ops243',
        direction: fastest.direction,
        samples: run.length,
        raw: fastest.raw,
      },
    },
  };
}

/** A speed whose sign is the direction: the radar reports approaching objects as positive. */
function speedWith(value: number | null, unit: string | null | undefined, usual: 'km/h' | 'mph' | undefined) {
  const factor = UNITS.get(unit?.toLowerCase() ?? '') ?? UNITS.get(usual ?? 'mps') ?? 1;
  return {
    speed: value === null ? null : speedOf(Math.abs(value) * factor),
    direction:
      value === null || value === 0 ? null : value > 0 ? ('approaching' as const) : ('receding' as const),
  };
}

function directionOf(name: string): Direction | null {
  if (/inbound|approach|toward|^in$/.test(name)) return 'approaching';
  return /outbound|reced|away|^out$/.test(name) ? 'receding' : null;
}
