import { type ReceivedImage, readImageBytes } from '@gantry/device-formats/image';

// Frees images of everything but what their pixels need: a copy with parts made unrecognisable must not show them again in
// a thumbnail, and must not say where and with what it was made.

/** Parts of a JPEG that have no length (ITU-T T.81, table B.1): restarts, and TEM. */
const isBare = (marker: number): boolean => (marker >= 0xd0 && marker <= 0xd7) || marker === 0x01;

const [END_OF_IMAGE, SCAN, APP0, APP14, COMMENT] = [0xd9, 0xda, 0xe0, 0xee, 0xfe];

/**
 * Whether a part is one that encoders write: frames and their tables, scans, restart intervals and numbers of lines, data of
 * applications, and comments (ITU-T T.81, table B.1). What decoders do not know may hold anything.
 */
const isKnown = (marker: number): boolean =>
  (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc8) ||
  (marker >= SCAN && marker <= 0xdd) ||
  (marker & 0xf0) === 0xe0 ||
  marker === COMMENT;

/** A JFIF header without a thumbnail: its units and densities stay. */
const JFIF_BYTES = 14;
/** An Adobe header says how colours are coded. */
const ADOBE_BYTES = 12;

/** What stays of a segment of a JPEG. @param segment from its marker on */
function keptOfJpeg(marker: number, segment: Buffer): Buffer | null {
  const data = segment.subarray(4);
  if (marker === APP0 && data.length >= JFIF_BYTES && data.toString('latin1', 0, 5) === 'JFIF\0') {
    const header = Buffer.concat([segment.subarray(0, 4 + JFIF_BYTES - 2), Buffer.of(0, 0)]);
    header.writeUInt16BE(2 + JFIF_BYTES, 2);
    return header;
  }
  if (marker === APP14 && data.length === ADOBE_BYTES && data.toString('latin1', 0, 5) === 'Adobe')
    return segment;
  return (marker & 0xf0) === 0xe0 || marker === COMMENT ? null : segment;
}

/** The end of coded data, where a marker other than a restart begins; null if there is none. */
function endOfScan(bytes: Buffer, from: number): number | null {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1];
    if (next !== undefined && next !== 0 && next !== 0xff && !isBare(next)) return at;
  }
  return null;
}

function strippedJpeg(bytes: Buffer): Buffer | null {
  const kept: Buffer[] = [bytes.subarray(0, 2)];
  let at = 2;
  while (at + 4 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    // Any number of fill bytes may stand before a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const until = at + 2 + bytes.readUInt16BE(at + 2);
    if (!isKnown(marker) || until < at + 4 || until > bytes.length) return null;
    const segment = keptOfJpeg(marker, bytes.subarray(at, until));
    if (segment !== null) kept.push(segment);
    at = until;
    if (marker !== SCAN) continue;
    const end = endOfScan(bytes, at);
    if (end === null) return null;
    kept.push(bytes.subarray(at, end));
    at = end;
    if (bytes[at + 1] === END_OF_IMAGE) return Buffer.concat([...kept, bytes.subarray(at, at + 2)]);
  }
  return null;
}

const PNG_SIGNATURE = 8;
const PNG_KEPT: ReadonlySet<string> = new Set([
  'IHDR',
  'PLTE',
  'tRNS',
  'gAMA',
  'cHRM',
  'sRGB',
  'sBIT',
  'pHYs',
  'IDAT',
  'IEND',
]);

function strippedPng(bytes: Buffer): Buffer | null {
  const kept: Buffer[] = [bytes.subarray(0, PNG_SIGNATURE)];
  for (let at = PNG_SIGNATURE; at + 12 <= bytes.length; ) {
    const until = at + 12 + bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (until > bytes.length) return null;
    if (PNG_KEPT.has(type)) kept.push(bytes.subarray(at, until));
    // What begins with a capital letter is needed to show the image.
    else if (/^[A-Z]/.test(type)) return null;
    if (type === 'IEND') return Buffer.concat(kept);
    at = until;
  }
  return null;
}

const RIFF_HEADER = 12;
const WEBP_KEPT: ReadonlySet<string> = new Set(['VP8 ', 'VP8L', 'VP8X', 'ALPH']);
/** Of the flags of VP8X only that there is transparency. */
const ALPHA = 0x10;
const ANIMATION = 0x02;

function strippedWebp(bytes: Buffer): Buffer | null {
  const end = Math.min(bytes.length, bytes.readUInt32LE(4) + 8);
  const kept = new Map<string, Buffer>();
  for (let at = RIFF_HEADER; at + 8 <= end; ) {
    const size = bytes.readUInt32LE(at + 4);
    const until = at + 8 + size + (size % 2);
    const type = bytes.toString('latin1', at, at + 4);
    if (at + 8 + size > end) return null;
    const chunk = Buffer.from(bytes.subarray(at, until));
    if (type === 'VP8X') {
      const flags = chunk[8] ?? 0;
      if ((flags & ANIMATION) !== 0) return null;
      chunk[8] = flags & ALPHA;
    }
    if (WEBP_KEPT.has(type)) {
      // Decoders show the first one, and another one would be hidden.
      if (kept.has(type)) return null;
      kept.set(type, chunk);
    }
    at = until;
  }
  const header = Buffer.from(bytes.subarray(0, RIFF_HEADER));
  const content = Buffer.concat([...kept.values()]);
  header.writeUInt32LE(4 + content.length, 4);
  return kept.has('VP8 ') === kept.has('VP8L') ? null : Buffer.concat([header, content]);
}

const STRIP = { 'image/jpeg': strippedJpeg, 'image/png': strippedPng, 'image/webp': strippedWebp } as const;

/**
 * The image with its pixels and nothing else: no EXIF, XMP, comments, thumbnails or profiles, and nothing after its end.
 * @returns null if it is not built as an encoder builds it, so that it is not known what else it contains
 */
export function withoutMetadata({ bytes, mediaType }: ReceivedImage): ReceivedImage | null {
  const stripped = STRIP[mediaType](bytes);
  if (stripped === null) return null;
  const image = readImageBytes(stripped);
  return 'refusal' in image ? null : image;
}
