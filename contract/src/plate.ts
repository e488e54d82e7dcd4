const PLAIN = /^[A-Z0-9]*$/;

/**
 * A plate without what does not count when plates are compared: blanks, hyphens, and invisible characters such as the marks
 * of the writing direction, which come along when a plate is copied.
 */
export function withoutSeparators(plate: string): string {
  return plate.replace(/[\s\p{Pd}\p{Cf}]/gu, '');
}

/** A plate in the form in which plates are compared: one case, normalized, without separators. Letters of every script are kept. */
export function plateKey(plate: string): string {
  if (PLAIN.test(plate)) return plate;
  // Upper case alone leaves some letters distinct from their own other case: ẞ and ß, İ and i̇.
  return withoutSeparators(plate).toLowerCase().toUpperCase().normalize('NFC');
}
