import { fileURLToPath } from 'node:url';

// Directly in src, because the built benchmarks (bench/dist) have the same depth.

/** The folder of the repository. */
export const root = fileURLToPath(new URL('../../', import.meta.url));
