/** A file name without extension: at most 100 letters, digits and hyphens, so that every platform accepts it. */
export function fileNameOf(...parts: readonly string[]): string {
  return parts
    .join(' ')
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .slice(0, 100)
    .replaceAll(/^-|-$/g, '');
}
