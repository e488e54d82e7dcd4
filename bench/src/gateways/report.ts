import { median } from '../percentile.ts';
import { slopeOf } from '../soak/verdict.ts';
import { figure, formatTable } from '../table.ts';
import type { CameraSample } from './cameras.ts';
import { type Measurement, WAYS, type Way } from './rounds.ts';

/** One progress line about a run. */
export function lineOf({
  way,
  round,
  answeredPerSecond,
  storedPerSecond,
  p99,
  nodeMicros,
  postgresMicros,
}: Measurement): string {
  return (
    `round ${round}  ${WAYS[way].padEnd(46)} ${figure(answeredPerSecond).padStart(7)} answers/s  ` +
    `${figure(storedPerSecond).padStart(7)} events/s  p99 ${figure(p99).padStart(5)} ms  ` +
    `node ${figure(nodeMicros ?? Number.NaN).padStart(5)} µs  PostgreSQL ${figure(postgresMicros ?? Number.NaN).padStart(5)} µs`
  );
}

/** One progress line about the cameras. */
export function sampleLine({
  minute,
  messagesPerSecond,
  p99,
  memory,
  heap,
  refusedPerSecond,
}: CameraSample): string {
  return `minute ${minute.toFixed(2)}  ${figure(messagesPerSecond)} messages/s  p99 ${figure(p99)} ms  memory ${figure(memory)} MB, heap ${figure(heap)} MB  ${figure(refusedPerSecond)} refused/s`;
}

/** A rate relative to that of a peer, computed in each round, and the median of the same ratio of the p99. */
export interface Ratio {
  readonly way: Way;
  readonly p99: number;
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
}

/** What each way is compared with: messages with an image with the floor, others with `events.ingest`. */
const PEERS: Readonly<Partial<Record<Way, Way>>> = {
  beside: 'ingest',
  platerecognizer: 'ingest',
  same: 'floor',
  hikvision: 'floor',
  base64: 'floor',
};

/** The answers per second of each way, and its p99, divided by those of its peer in the same round. */
export function ratiosOf(measurements: readonly Measurement[]): Ratio[] {
  return (Object.entries(PEERS) as [Way, Way][]).flatMap(([way, peer]) => {
    const ratiosOfKey = (key: 'answeredPerSecond' | 'p99'): number[] =>
      measurements
        .filter((each) => each.way === way)
        .map((own) => {
          const other = measurements.find((each) => each.way === peer && each.round === own.round);
          return own[key] / (other?.[key] ?? Number.NaN);
        });
    const rates = ratiosOfKey('answeredPerSecond');
    if (rates.length === 0) return [];
    const p99 = median(ratiosOfKey('p99'));
    return [{ way, p99, median: median(rates), lowest: Math.min(...rates), highest: Math.max(...rates) }];
  });
}

/** Maximum growth over the second half that counts as flat, as a fraction of the memory in use. */
const FLAT_SHARE = 0.05;

/** The memory in the second half of the time: its mean in MB, its slope in MB per minute, and whether it is flat. */
export function memoryOf(samples: readonly CameraSample[]) {
  const second = samples.slice(samples.length >> 1);
  const mean = second.reduce((sum, { memory }) => sum + memory, 0) / second.length;
  const slope = slopeOf(second.map(({ minute, memory }) => [minute, memory]));
  const minutes = (second.at(-1)?.minute ?? 0) - (second[0]?.minute ?? 0);
  return { mean, slope, flat: slope * minutes <= FLAT_SHARE * mean };
}

/** The tables, as Markdown. */
export function reportOf(measurements: readonly Measurement[], samples: readonly CameraSample[]): string {
  return [
    ...(measurements.length > 0 ? throughput(measurements) : []),
    ...(measurements.length > 0 && samples.length > 0 ? [''] : []),
    ...(samples.length > 0 ? cameras(samples) : []),
  ].join('\n');
}

function throughput(measurements: readonly Measurement[]): string[] {
  const rounds = new Set(measurements.map(({ round }) => round)).size;
  const titles = [
    'answers/s',
    'events/s',
    'p50 ms',
    'p99 ms',
    'node µs',
    'PostgreSQL µs',
    'generator',
    'written',
    'syncs',
  ];
  const keys = [
    'answeredPerSecond',
    'storedPerSecond',
    'p50',
    'p99',
    'nodeMicros',
    'postgresMicros',
    'generatorLoad',
    'writtenPerByte',
    'syncs',
  ] as const;
  const ratios = new Map(ratiosOf(measurements).map((ratio) => [ratio.way, ratio]));
  const rows = [...new Set(measurements.map(({ way }) => way))].map((way) => {
    const own = measurements.filter((each) => each.way === way);
    const ratio = ratios.get(way);
    return [
      WAYS[way],
      ...keys.map((key) => figure(median(own.map((each) => each[key] ?? Number.NaN)))),
      ratio === undefined
        ? ''
        : `${figure(ratio.median)} (${figure(ratio.lowest)} – ${figure(ratio.highest)})`,
      ratio === undefined ? '' : figure(ratio.p99),
    ];
  });
  return [
    `Medians of ${rounds} rounds. Every message that was answered with 200 became one event, and none failed. Messages with an image are compared with the floor, others with events.ingest. Written: bytes to files and the write-ahead log per byte of the images; syncs: of files, per message.`,
    '',
    formatTable(
      [
        { title: 'sent' },
        ...titles.map((title) => ({ title, figures: true })),
        { title: 'answers/s to peer', figures: true },
        { title: 'p99 to peer', figures: true },
      ],
      rows,
    ),
  ];
}

function cameras(samples: readonly CameraSample[]): string[] {
  const { mean, slope, flat } = memoryOf(samples);
  const columns = ['minute', 'messages/s', '503/s', 'p50 ms', 'p99 ms', 'memory MB', 'heap MB', 'outside MB'];
  return [
    'Cameras with a connection each, which send a message with a new image every second, or as soon as the last one was answered. Every message that was answered with 200 became an event, and none failed.',
    '',
    formatTable(
      columns.map((title) => ({ title, figures: true })),
      samples.map((sample) => [
        sample.minute.toFixed(2),
        figure(sample.messagesPerSecond),
        figure(sample.refusedPerSecond),
        figure(sample.p50),
        figure(sample.p99),
        figure(sample.memory),
        figure(sample.heap),
        figure(sample.external),
      ]),
    ),
    '',
    `Memory in the second half: ${slope.toFixed(1)} MB/min around ${mean.toFixed(0)} MB, ${flat ? 'flat' : 'NOT FLAT'}.`,
  ];
}
