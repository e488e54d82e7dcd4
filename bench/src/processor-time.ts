import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { query } from './database.ts';
import { descendantsOf } from './faults/processes.ts';

/** On all architectures, Linux reports processor time to programs in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** Times of all processors together since the start of the machine, in seconds; `idle` and `stolen` are NaN if unknown. */
export interface MachineTimes {
  /** Time in which they were idle. */
  readonly idle: number;
  /** Steal time: they had work, but the host of this virtual machine ran something else. */
  readonly stolen: number;
  readonly total: number;
}

/** Processor times since a fixed moment, in seconds; NaN if unknown. */
export interface ProcessorTimes extends MachineTimes {
  /** Processor time of all processes of the measured server, without PostgreSQL. */
  readonly server: number;
  readonly postgresql: number;
}

export type ReadProcessorTimes = () => Promise<ProcessorTimes>;

/** The processor time that a run used; null if unknown. */
export interface ProcessorUse {
  /** Processor time of the server per event or message, in microseconds. */
  readonly nodeMicros: number | null;
  /** Processor time of PostgreSQL per event or message, in microseconds. */
  readonly postgresMicros: number | null;
  /** The fraction of the time of all processors in which they were idle. */
  readonly idle: number | null;
}

/**
 * Returns a function that reads processor times from /proc. They are unknown on systems other than Linux, and that of
 * PostgreSQL is unknown if it runs on another machine or its data folder is not readable.
 * @param pid the first process of the server
 */
export async function processorTimesOf(pid: number, databaseUrl: string): Promise<ReadProcessorTimes> {
  const postmaster = await findPostmaster(databaseUrl);
  return async () => {
    const server = await treeOf(pid);
    const postgresql = postmaster === null ? [] : await treeOf(postmaster);
    return {
      // The embedded PostgreSQL is a child process of the service.
      server: await secondsOf(server.filter((each) => !postgresql.includes(each))),
      postgresql: await secondsOf(postgresql),
      ...(await readMachineTimes()),
    };
  };
}

/** The processor time used between two readings. @param n the number of events or messages between them */
export function usedBetween(before: ProcessorTimes, after: ProcessorTimes, n: number): ProcessorUse {
  const grown = (key: keyof ProcessorTimes): number => after[key] - before[key];
  const known = (value: number): number | null => (Number.isFinite(value) ? value : null);
  return {
    nodeMicros: known((grown('server') * 1e6) / n),
    postgresMicros: known((grown('postgresql') * 1e6) / n),
    idle: known(grown('idle') / grown('total')),
  };
}

async function findPostmaster(databaseUrl: string): Promise<number | null> {
  const rows = await query<{ folder: string }>(
    databaseUrl,
    `SELECT current_setting('data_directory') AS folder`,
  ).catch(() => []);
  const file = join(rows[0]?.folder ?? '', 'postmaster.pid');
  const pid = Number((await readFile(file, 'utf8').catch(() => '')).split('\n')[0]);
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
  return name.startsWith('postgres') ? pid : null;
}

async function treeOf(pid: number): Promise<number[]> {
  const descendants = await descendantsOf(pid).catch(() => null);
  return descendants === null ? [] : [pid, ...descendants];
}

/** The processor time of the processes and of their child processes that have ended, in seconds. */
async function secondsOf(pids: readonly number[]): Promise<number> {
  if (pids.length === 0) return Number.NaN;
  const ticks = await Promise.all(pids.map(ticksOf));
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND;
}

async function ticksOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}

/** Reads the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal. Waiting for I/O counts as idle. */
export async function readMachineTimes(): Promise<MachineTimes> {
  const line = (await readFile('/proc/stat', 'utf8').catch(() => '')).split('\n')[0] ?? '';
  const ticks = line.split(/\s+/).slice(1, 9).map(Number);
  const [, , , idle = Number.NaN, waiting = 0, , , stolen = Number.NaN] = ticks;
  return {
    idle: (idle + waiting) / TICKS_PER_SECOND,
    stolen: stolen / TICKS_PER_SECOND,
    total: ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND,
  };
}
