/** Maximum number of bars in a chart. */
const MOST = 10;

/** Sums by name for a bar chart, largest first. */
export function largest(sums: ReadonlyMap<string, number>): { label: string; value: number }[] {
  return [...sums]
    .map(([label, value]) => ({ label, value }))
    .sort((a, b) => b.value - a.value || (a.label < b.label ? -1 : 1))
    .slice(0, MOST);
}

/** Adds `n` to the sum of a name. */
export function addTo(sums: Map<string, number>, name: string, n: number): void {
  sums.set(name, (sums.get(name) ?? 0) + n);
}
