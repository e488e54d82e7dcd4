import { afterAll } from 'vitest';
import { stopFileServices } from './file-services.ts';
import { startedProcesses } from './started-processes.ts';

// Vitest runs this for every file of tests. A hook in a module that files share would belong to the first of them only,
// because workers load modules once.
afterAll(async () => {
  for (const child of startedProcesses) child.kill('SIGKILL');
  await stopFileServices();
});

// Vitest calls no hooks of a file that failed while it was read, or of which no test was selected.
await stopFileServices();
