import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { query } from './database.ts';
import { descendantsOf } from './faults/processes.ts';

/** Linux counts processor time in hundredths of a second for programs, on all architectures. */
const TICKS_PER_SECOND = 100;

/** The time of all processors together since the start of the machine in seconds; NaN where it cannot be read. */
export interface MachineTimes {
  /** In which they did nothing. */
  readonly idle: number;
  /** In which they had work, and the host of this virtual machine let others work. */
  readonly stolen: number;
  readonly total: number;
}

/** Processor time since some moment in seconds; NaN where it cannot be read. */
export interface ProcessorTimes extends MachineTimes {
  /** Of the measured server, with all its processes, without PostgreSQL. */
  readonly server: number;
  readonly postgresql: number;
}

export type ReadProcessorTimes = () => Promise<ProcessorTimes>;

/** What a run has used. Null where it is not known. */
export interface ProcessorUse {
  /** Processor time of the server per event or message, in microseconds. */
  readonly nodeMicros: number | null;
  /** The same of PostgreSQL. */
  readonly postgresMicros: number | null;
  /** The fraction of the time of all processors in which they did nothing. */
  readonly idle: number | null;
}

/**
 * How to read processor times from /proc: nothing on other systems than Linux, and no time of a PostgreSQL on another
 * machine or of another user.
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

/** @param n the number of events or messages between the two moments */
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

/** The processor time of these processes, with that of processes that they started and that have ended. */
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

/** The first line of /proc/stat: user, nice, system, idle, waiting for the disk, interrupts, stolen by other machines. */
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
