import { afterAll } from 'vitest';
import { startedProcesses } from './started-processes.ts';

// Vitest runs this for every file of tests. A hook in a module that files share would belong to the first of them only,
// because workers load modules once.
afterAll(() => {
  for (const child of startedProcesses) child.kill('SIGKILL');
});
