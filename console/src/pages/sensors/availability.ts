import type { SensorStatus, StatusChange } from '@gantry/contract/sensors';

/** A period during which a sensor had one status. Times are in milliseconds since 1970. */
export interface StatusSpan {
  readonly status: SensorStatus;
  readonly from: number;
  readonly to: number;
}

/**
 * Converts status changes to the periods between them, the last of which ends now. Oldest first.
 * @param changes newest first, as returned by `sensors.getStatusHistory`
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

/** Clips the spans to a period, and drops those outside it. */
export function within(spans: readonly StatusSpan[], from: number, to: number): readonly StatusSpan[] {
  return spans
    .filter((span) => span.to > from && span.from < to)
    .map(({ status, ...span }) => ({ status, from: Math.max(span.from, from), to: Math.min(span.to, to) }));
}

/**
 * The share (0 to 1) of a period during which a sensor was online. Maintenance is excluded, as is the time before the
 * first span. @returns null if no time is left
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
