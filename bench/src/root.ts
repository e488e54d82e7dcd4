import { fileURLToPath } from 'node:url';

// Directly in src, because a bundle of the benchmarks (bench/dist) has the same depth.

/** The folder of the repository, or of an unpacked bundle (`bench -- bundle`). */
export const root = fileURLToPath(new URL('../../', import.meta.url));
