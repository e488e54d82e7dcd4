/**
 * The time of this machine's clock, in Unix milliseconds. Only this file reads it. It is for comparing with the times
 * of files, and for `Clock`, whose time is used for everything that is stored, signed or shown.
 */
export function machineTime(): number {
  return Date.now();
}
