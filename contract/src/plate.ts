const PLAIN = /^[A-Z0-9]*$/;

/**
 * The plate without the characters that comparisons ignore: blanks, hyphens and dashes, and invisible characters such as
 * directional marks, which are often included when a plate is copied from a text.
 */
export function withoutSeparators(plate: string): string {
  return plate.replace(/[\s\p{Pd}\p{Cf}]/gu, '');
}

/** The form in which plates are compared: upper case, NFC, without separators. Letters of every script are kept. */
export function plateKey(plate: string): string {
  if (PLAIN.test(plate)) return plate;
  // Upper case alone leaves some letters distinct from their own other case: ẞ and ß, İ and i̇.
  return withoutSeparators(plate).toLowerCase().toUpperCase().normalize('NFC');
}
