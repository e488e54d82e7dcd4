/** A name that every system of files takes. */
export function fileNameOf(...parts: readonly string[]): string {
  return parts
    .join(' ')
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .slice(0, 100)
    .replaceAll(/^-|-$/g, '');
}
