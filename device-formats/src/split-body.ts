import { replaceImages } from './embedded-images.ts';
import { imageLengthOf, imageUrl, mediaTypeOf, type ReceivedImage, readImageBytes } from './image.ts';
import { isMultipart, type RawPart, splitMultipart, UnreadableMultipart } from './multipart.ts';

/** One part of a body as it is stored: exactly one of `text`, `base64` and `image` is not null. */
export interface StoredPart {
  readonly name: string | null;
  readonly fileName: string | null;
  readonly contentType: string | null;
  /** The text, in which images in base64 are replaced by their addresses. */
  readonly text: string | null;
  /** The bytes of a part that is neither text nor a usable image. */
  readonly base64: string | null;
  /** The address of the image. */
  readonly picture: string | null;
}

/** A body, divided into what is stored with the message and the images that are stored by their hashes. */
export interface SplitBody {
  readonly parts: readonly StoredPart[];
  readonly pictures: readonly ReceivedImage[];
  /** Which parts of the body cannot be used, as sentences. */
  readonly flaws: readonly string[];
}

/** Maximum number of fields of a form; devices send few. */
const MAX_FIELDS = 100;

/** Maximum number of images in a body: devices send up to a dozen, and buffers up to a thousand events. */
const MAX_IMAGES = 1_000;

/**
 * Divides the body of a request into parts, and takes out the images: parts of a multipart body, base64 in texts, and
 * bytes that follow a JSON text. Declared types are not trusted. It never throws: a part that cannot be read is
 * stored unchanged, with a flaw.
 */
export function splitBody(contentType: string | null, body: Buffer): SplitBody {
  const pictures = new Map<string, ReceivedImage>();
  const flaws: string[] = [];
  let taken = 0;

  /** Takes an image out of the body. @returns its address; null if it cannot be used, which is noted as a flaw */
  const take = (bytes: Buffer, name: string): string | null => {
    if (++taken > MAX_IMAGES) {
      if (taken === MAX_IMAGES + 1) flaws.push(`The body has more than ${MAX_IMAGES} images`);
      return null;
    }
    const mediaType = mediaTypeOf(bytes);
    const isTruncated = mediaType !== null && imageLengthOf(bytes, mediaType) === null;
    const image = readImageBytes(bytes);
    if ('refusal' in image) {
      const { refusal } = image;
      flaws.push(isTruncated ? `${name} is truncated and was left out` : `${name} was left out: ${refusal}`);
      return null;
    }
    pictures.set(image.sha256, image);
    if (isTruncated) flaws.push(`${name} is truncated`);
    return imageUrl(image.sha256);
  };

  const partOf = ({ name, fileName, contentType: type, bytes }: RawPart): StoredPart[] => {
    const title = fileName ?? name ?? 'An image';
    const kept = { name, fileName, contentType: type, text: null, base64: null, picture: null };
    const isImage = mediaTypeOf(bytes) !== null;
    const isText = /^\s*[{[<]/.test(bytes.toString('latin1', 0, 32));
    if (isImage || (/^image\//i.test(type ?? '') && !isText)) {
      // Devices send empty parts when they have no image of a kind.
      if (bytes.length === 0) return [];
      const picture = take(bytes, title);
      return [picture === null ? { ...kept, base64: bytes.toString('base64') } : { ...kept, picture }];
    }
    const { text, isDamaged } = decode(bytes, type);
    if (isDamaged) {
      flaws.push(
        'The text is neither UTF-8 nor in the character set that it declares, so that some of its characters were lost',
      );
    }
    if (text === null) return [{ ...kept, base64: bytes.toString('base64') }];
    const unusable: StoredPart[] = [];
    const without = replaceImages(text, (image) => {
      const address = take(image, `An image in ${title === 'An image' ? 'the message' : title}`);
      if (address === null) unusable.push({ ...kept, base64: image.toString('base64') });
      return address ?? '';
    });
    return [{ ...kept, text: without }, ...unusable];
  };

  const raw = readableParts(contentType, body, flaws);
  const parts = raw.flatMap(partOf);
  const isUnread = raw.length === 0 && body.length > 0;
  return {
    parts: isUnread ? [{ ...asWhole(contentType), base64: body.toString('base64') }] : parts,
    pictures: [...pictures.values()],
    flaws,
  };
}

function asWhole(contentType: string | null): StoredPart {
  return { name: null, fileName: null, contentType, text: null, base64: null, picture: null };
}

/** The parts of a body; none of a multipart body that is not accepted, which is noted as a flaw. */
function readableParts(contentType: string | null, body: Buffer, flaws: string[]): RawPart[] {
  try {
    return rawPartsOf(contentType, body, flaws);
  } catch (error) {
    if (!(error instanceof UnreadableMultipart)) throw error;
    flaws.push(error.message);
    return [];
  }
}

function rawPartsOf(contentType: string | null, body: Buffer, flaws: string[]): RawPart[] {
  const type = contentType ?? '';
  if (/^\s*multipart\//i.test(type) || isMultipart(body)) {
    const { parts, isIncomplete } = splitMultipart(type, body);
    if (isIncomplete) flaws.push('The multipart body is incomplete');
    return parts;
  }
  const whole = { name: null, fileName: null, contentType, bytes: body };
  if (/^\s*application\/x-www-form-urlencoded/i.test(type) || /^json=/.test(body.toString('latin1', 0, 5))) {
    // Some clients send JSON under the type that curl sends by default.
    return /^\s*[{[<]/.test(body.toString('latin1', 0, 32)) ? splitTail(whole) : fieldsOf(body);
  }
  return splitTail(whole);
}

function fieldsOf(body: Buffer): RawPart[] {
  const fields = [...new URLSearchParams(body.toString('utf8'))];
  if (fields.length > MAX_FIELDS)
    throw new UnreadableMultipart(`The form has more than ${MAX_FIELDS} fields`);
  return fields.map(([name, value]) => ({
    name,
    fileName: null,
    contentType: null,
    bytes: Buffer.from(value),
  }));
}

/**
 * The text without NUL characters, with which some devices end texts, also within JSON and XML. Null if the text has NUL
 * characters and is not JSON or XML, or if at least half of it are NUL characters.
 */
function withoutZeros(text: string): string | null {
  if (!text.includes('\0')) return text;
  const rest = text.replaceAll('\0', '');
  return /^\s*[{[<]/.test(rest) && 2 * rest.length > text.length ? rest : null;
}

/** Separates a JSON text from images that follow it, one after the other. */
function splitTail(whole: RawPart): RawPart[] {
  const { bytes } = whole;
  const end = /^\s*[{[]/.test(bytes.toString('latin1', 0, 32)) ? endOfJson(bytes) : null;
  if (end === null) return [whole];
  const parts: RawPart[] = [{ ...whole, bytes: bytes.subarray(0, end) }];
  let tail = bytes.subarray(end);
  for (let at = nextImage(tail); at !== -1; at = nextImage(tail)) {
    tail = tail.subarray(at);
    const mediaType = mediaTypeOf(tail);
    // What follows the last image that is taken is kept as it is.
    const isLast = parts.length > MAX_IMAGES;
    const length = (mediaType && !isLast && imageLengthOf(tail, mediaType)) || tail.length;
    parts.push({ name: null, fileName: null, contentType: mediaType, bytes: tail.subarray(0, length) });
    tail = tail.subarray(length);
  }
  return parts.length > 1 ? parts : [whole];
}

function nextImage(bytes: Buffer): number {
  for (let at = 0; at < bytes.length && at < 1024; at++)
    if (mediaTypeOf(bytes.subarray(at)) !== null) return at;
  return -1;
}

/** The position after the JSON value at the beginning; null when it is not complete. */
function endOfJson(bytes: Buffer): number | null {
  let depth = 0;
  let inText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (inText) {
      if (byte === 0x5c) at++;
      else if (byte === 0x22) inText = false;
    } else if (byte === 0x22) inText = true;
    else if (byte === 0x7b || byte === 0x5b) depth++;
    else if ((byte === 0x7d || byte === 0x5d) && --depth === 0) return at + 1;
  }
  return null;
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });
const CHARSET = /charset\s*=\s*["']?([\w.:-]+)/i;
const XML_ENCODING = /^\s*<\?xml[^>]*encoding\s*=\s*["']([\w.:-]+)/i;
const TWO_BYTES = /^(?:utf-?16|ucs-?2|unicode|iso-10646-ucs)/i;

interface Decoded {
  /** Null when the bytes are not text. */
  readonly text: string | null;
  /** Whether some characters could not be decoded, and are `U+FFFD` in the text. */
  readonly isDamaged: boolean;
}

/**
 * Decodes bytes in the declared character set, or otherwise in UTF-8. A byte order mark of UTF-16 takes precedence. UTF-16
 * is also declared by programs that write UTF-8, which is recognised by the absence of zero bytes.
 */
function decode(bytes: Buffer, contentType: string | null): Decoded {
  const beginning = bytes.toString('latin1', 0, 200);
  const declared = CHARSET.exec(contentType ?? '')?.[1] ?? XML_ENCODING.exec(beginning)?.[1] ?? 'utf-8';
  const mark = /^(?:\xff\xfe|\xfe\xff)/.exec(beginning)?.[0];
  const probable = TWO_BYTES.test(declared) && !beginning.includes('\0') ? 'utf-8' : declared;
  const charset = mark === undefined ? probable : mark === '\xff\xfe' ? 'utf-16le' : 'utf-16be';
  for (const each of [charset, 'utf-8']) {
    try {
      const text = (each === 'utf-8' ? UTF_8 : new TextDecoder(each, { fatal: true })).decode(bytes);
      return { text: withoutZeros(text), isDamaged: false };
    } catch {
      // Unknown character set, or bytes that are invalid in it.
    }
  }
  return /xml|json|text/i.test(contentType ?? '') && !bytes.includes(0)
    ? { text: bytes.toString('utf8'), isDamaged: true }
    : { text: null, isDamaged: false };
}
