/** The metrics of a service at one moment: the value of each name, summed over the processes that share a port. */
export type Metrics = ReadonlyMap<string, number>;

const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)$/;

/** The label that distinguishes the processes of a service (`WORKERS`). */
const WORKER = /,?worker="\d+"/;

/** Parses the answer of /metrics; labels other than `worker` stay part of the name. */
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

/** The average number of events committed together between two moments; NaN if there were none. */
export function groupSizeBetween(before: Metrics, after: Metrics): number {
  const grown = (name: string): number => (after.get(name) ?? 0) - (before.get(name) ?? 0);
  return grown('gantry_commit_group_size_sum') / grown('gantry_commit_group_size_count');
}

/** Resident memory of the service's processes, in megabytes. */
export function residentMegabytes(metrics: Metrics): number {
  return (metrics.get('process_resident_memory_bytes') ?? Number.NaN) / 1e6;
}
