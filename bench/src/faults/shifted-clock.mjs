import { readFileSync } from 'node:fs';

// Preloaded into a service to shift its clock: its Date is off by the number of milliseconds in the file. The clock
// of the database and the monotonic clock are not affected.

const file = process.env.GANTRY_CLOCK_OFFSET_FILE ?? '';
const RealDate = Date;
let offset = 0;

const read = () => {
  try {
    offset = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    offset = 0;
  }
};
read();
setInterval(read, 50).unref();

const now = () => RealDate.now() + offset;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, newTarget) =>
    Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
});
