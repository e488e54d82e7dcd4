/**
 * What the clock of this machine shows, in Unix milliseconds. Nothing else in the service reads it: what is stored, signed
 * or shown has the time of `Clock`. It is for what the machine itself dates, such as files, and for `Clock` to compare with.
 */
export function machineTime(): number {
  return Date.now();
}
