/** A column of a table: its title, and whether it contains figures, which are aligned to the right. */
export interface Column {
  readonly title: string;
  readonly figures?: boolean;
}

/** Formats a table that is readable in a terminal and valid Markdown. */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const cells = rows.map((row) => columns.map((_, at) => String(row[at] ?? '')));
  const widths = columns.map(({ title }, at) =>
    Math.max(3, title.length, ...cells.map((row) => row[at]?.length ?? 0)),
  );
  const pad = (text: string, at: number): string =>
    columns[at]?.figures ? text.padStart(widths[at] ?? 0) : text.padEnd(widths[at] ?? 0);
  const line = (texts: readonly string[]): string => `| ${texts.map(pad).join(' | ')} |`;
  const rule = widths.map((width, at) =>
    columns[at]?.figures ? `${'-'.repeat(width + 1)}:` : '-'.repeat(width + 2),
  );
  return [line(columns.map(({ title }) => title)), `|${rule.join('|')}|`, ...cells.map(line)].join('\n');
}

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** A formatted number: `12,345`, `12.3`, `1.23`; a dash for none. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 100) return grouped.format(value);
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}
