import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** Collects garbage, also what only weak references reach: those of the present task hold it until the task is over. */
export const collectGarbage = async (): Promise<void> => {
  await new Promise((resolve) => setImmediate(resolve));
  collect();
};
