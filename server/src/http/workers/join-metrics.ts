/**
 * Merges the metrics of several processes in Prometheus' text format: each metric is described once, with the samples
 * of all. The samples must differ in a label.
 */
export function joinMetrics(texts: readonly string[]): string {
  const metrics = new Map<string, { about: Set<string>; samples: string[] }>();
  for (const text of texts) {
    let current = { about: new Set<string>(), samples: [] as string[] };
    for (const line of text.split('\n')) {
      const name = /^# (?:HELP|TYPE) (\S+)/.exec(line)?.[1];
      if (name !== undefined) {
        current = metrics.get(name) ?? { about: new Set(), samples: [] };
        metrics.set(name, current);
        current.about.add(line);
      } else if (line !== '') current.samples.push(line);
    }
  }
  const parts = [...metrics.values()].map(({ about, samples }) => [...about, ...samples, ''].join('\n'));
  return parts.join('\n');
}
