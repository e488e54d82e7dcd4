/** The usual names of violations, by what the names of makers contain. The first that fits counts. */
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/low.?speed|under.?speed|slow/i, 'LOW_SPEED'],
  [/speed|超速/i, 'SPEEDING'],
  [/red.?light|闯红灯/i, 'RED_LIGHT'],
  [/wrong.?(?:way|direction|side)|retrograde|revers|converse|opposite|逆行|逆向/i, 'WRONG_WAY'],
  [/belt|安全带/i, 'NO_SEATBELT'],
  [/phone|calling|打电话|手机/i, 'PHONE_USE'],
  [/helmet|safe.?hat|头盔/i, 'NO_HELMET'],
  [/smoking|吸烟/i, 'SMOKING'],
  [/parking|parked|违停|停车/i, 'ILLEGAL_PARKING'],
  [/lane|cross.?line|over.?line|yellow.?line|solid.?line|压线|变道|车道/i, 'LANE_VIOLATION'],
  [/u.?turn|turn.?round|掉头/i, 'ILLEGAL_TURN'],
];

/**
 * The usual name of a violation that a maker calls by this name, such as `SPEEDING` for `TrafficOverSpeed`; the name as
 * it is, if it is none of the usual ones. Violations with usual names can be counted across makers.
 */
export function violationNamed(name: string): string {
  return NAMES.find(([pattern]) => pattern.test(name))?.[1] ?? name;
}
