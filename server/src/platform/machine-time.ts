/**
 * The time of this machine's clock, in Unix milliseconds. Only this file reads that clock. It is for comparing with times
 * that this machine wrote, such as those of files, for commands, and for `Clock`. The service uses the time of `Clock` for
 * everything that it stores, signs or shows.
 */
export function machineTime(): number {
  return Date.now();
}
