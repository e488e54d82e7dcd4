/** Lengths of time in milliseconds. A day of a time zone may be longer or shorter than `DAY_MS` when its clocks change. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
