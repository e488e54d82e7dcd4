/** The usual names of violations, by patterns of the makers' names. The first match applies. */
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

/** What cameras send in the fields of violations for a vehicle that violates nothing, in lower case without blanks. */
const NO_VIOLATION =
  /^(?:0+|no|not?violations?|nothing|none|normal|normaldriving|legal|compliant|ok|false|anpr|checkpoint|正常|正常行驶|无违章|无违法|无)$/;

/** The text of a violation; null for the spellings of "none". */
export function violationIn(text: string | null): string | null {
  return text === null || NO_VIOLATION.test(text.toLowerCase().replaceAll(/[\s_-]/g, '')) ? null : text;
}

/**
 * The usual name for a maker's name of a violation, such as `SPEEDING` for `TrafficOverSpeed`; the maker's name if there
 * is none. Violations with usual names can be counted across makers.
 */
export function violationNamed(name: string): string {
  return NAMES.find(([pattern]) => pattern.test(name))?.[1] ?? name;
}
