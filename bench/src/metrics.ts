/** What a service said of itself at one moment: the figure of each name, summed over the processes that share a port. */
export type Metrics = ReadonlyMap<string, number>;

const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)$/;

/** The label by which such processes differ (`WORKERS`). */
const WORKER = /,?worker="\d+"/;

/** Reads the text that /metrics answers; other labels than `worker` stay a part of the name. */
export function parseMetrics(text: string): Metrics {
  const metrics = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = SAMPLE.exec(line) ?? [];
    if (name === undefined) continue;
    const others = labels.replace(WORKER, '');
    const key = others === '' ? name : `${name}{${others}}`;
    metrics.set(key, (metrics.get(key) ?? 0) + Number(value));
  }
  return metrics;
}

/** How many events were committed together in the mean between two moments; NaN when none were. */
export function groupSizeBetween(before: Metrics, after: Metrics): number {
  const grown = (name: string): number => (after.get(name) ?? 0) - (before.get(name) ?? 0);
  return grown('gantry_commit_group_size_sum') / grown('gantry_commit_group_size_count');
}

/** Resident memory of the service's processes, in megabytes. */
export function residentMegabytes(metrics: Metrics): number {
  return (metrics.get('process_resident_memory_bytes') ?? Number.NaN) / 1e6;
}
