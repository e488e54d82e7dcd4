/** The beginning of a JPEG, PNG or WebP file in base64. JSON may write `/` as `\/`. */
const BEGINNING =
  /(?:data:[\w.+/\\-]{0,60}(?:;[\w.+=-]{1,60}){0,3};base64,)?(?:\\?\/9j\\?\/|iVBORw0KGgo|UklGR)/g;

/** Minimum length of an image in base64, in characters. Shorter runs are not images. */
const MIN_LENGTH = 100;

/**
 * Replaces every image in base64 in a JSON or XML text.
 * @param replace returns the text that takes the place of an image
 */
export function replaceImages(text: string, replace: (bytes: Buffer) => string): string {
  let result = '';
  let copied = 0;
  BEGINNING.lastIndex = 0;
  for (let found = BEGINNING.exec(text); found; found = BEGINNING.exec(text)) {
    const start = found.index;
    const end = endOfBase64(text, start + (found[0].startsWith('data:') ? found[0].indexOf(',') + 1 : 0));
    BEGINNING.lastIndex = end;
    if (end - start < MIN_LENGTH) continue;
    const run = text.slice(start, end).replace(/^data:[^,]*,/, '');
    result +=
      text.slice(copied, start) + replace(Buffer.from(run.replaceAll(/\\[nrt]|\\(?=\/)/g, ''), 'base64'));
    copied = end;
  }
  return copied === 0 ? text : result + text.slice(copied);
}

/** The end of the base64 that begins at `at`, with the line breaks and escapes that XML and JSON allow in it. */
function endOfBase64(text: string, at: number): number {
  let end = at;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (isBase64(code) || code === 0x0a || code === 0x0d) continue;
    if (code !== 0x5c || !'/nr'.includes(text.charAt(end + 1)) || end + 1 === text.length) break;
    end++;
  }
  return end;
}

function isBase64(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x2f && code <= 0x39) ||
    code === 0x2b ||
    code === 0x3d
  );
}
