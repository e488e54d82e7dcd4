import type { ChildProcess } from 'node:child_process';

/** The processes that tests have started and that have not ended, for example because a test failed. */
export const startedProcesses = new Set<ChildProcess>();
