/** What a service said of itself at one moment, by the name of the figure as /metrics writes it. */
export type Metrics = ReadonlyMap<string, number>;

/** Reads the text that /metrics answers; figures keep their labels as part of their name. */
export const parseMetrics = (text: string): Metrics =>
  new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line): [string, number] => {
        const end = line.lastIndexOf(' ');
        return [line.slice(0, end), Number(line.slice(end + 1))];
      }),
  );

/** How many events were committed together in the mean between two moments; NaN when none were. */
export const groupSizeBetween = (before: Metrics, after: Metrics): number => {
  const grown = (name: string): number => (after.get(name) ?? 0) - (before.get(name) ?? 0);
  return grown('gantry_commit_group_size_sum') / grown('gantry_commit_group_size_count');
};
