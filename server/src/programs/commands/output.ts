/** Writes a line to standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Writes the result of a command for programs (`--json`). */
export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** A number of bytes for people. */
export function inMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
