/**
 * Text in the form for comparison and search without regard to case: normalized, in lower case, with I, İ, ı and i as
 * one letter and all forms of sigma as another. The database function `gantry_fold` does the same.
 */
export function caseFold(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[İI]/g, 'i')
    .toLowerCase()
    .replaceAll('ı', 'i')
    .replaceAll('ς', 'σ')
    .replaceAll('i\u0307', 'i');
}
