import type { SensorStatus, StatusChange } from '@gantry/contract/sensors';

/** A time during which a sensor had one status, in milliseconds since 1970. */
export interface StatusSpan {
  readonly status: SensorStatus;
  readonly from: number;
  readonly to: number;
}

/**
 * The times of each status until now, oldest first.
 * @param changes newest first, as `sensors.getStatusHistory` answers them
 */
export function spansOf(changes: readonly StatusChange[], now: number): readonly StatusSpan[] {
  let to = now;
  const spans: StatusSpan[] = [];
  for (const { to: status, at } of changes) {
    const from = at.getTime();
    if (from < to) spans.push({ status, from, to });
    to = Math.min(to, from);
  }
  return spans.reverse();
}

/** The parts of the spans that lie within a time. */
export function within(spans: readonly StatusSpan[], from: number, to: number): readonly StatusSpan[] {
  return spans
    .filter((span) => span.to > from && span.from < to)
    .map(({ status, ...span }) => ({ status, from: Math.max(span.from, from), to: Math.min(span.to, to) }));
}

/**
 * The share (0 to 1) of a time in which a sensor was online. Maintenance does not count, nor does the time before the
 * first span. @returns null where nothing is left
 */
export function availability(spans: readonly StatusSpan[], from: number, to: number): number | null {
  let [online, known] = [0, 0];
  for (const span of within(spans, from, to)) {
    if (span.status === 'MAINTENANCE') continue;
    known += span.to - span.from;
    if (span.status === 'ONLINE') online += span.to - span.from;
  }
  return known > 0 ? online / known : null;
}
