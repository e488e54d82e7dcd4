/**
 * A figure that cannot be trusted, or a benchmark that could not run. The message says why; the process exits with 1.
 */
export class BenchmarkFailed extends Error {
  override readonly name = 'BenchmarkFailed';
}
