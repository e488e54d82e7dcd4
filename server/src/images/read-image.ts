import { hash } from 'node:crypto';
import {
  type MediaType,
  NOT_AN_IMAGE,
  type ReceivedImage,
  readImageBytes,
} from '@gantry/device-formats/image';
import { invalidInput } from '../platform/error.ts';

const DATA_URL = /^data:/i;
/** The type is not read, because devices write `image/jpg`, `image/pjpeg`, parameters or none: the bytes determine it. */
const IMAGE_URL = /^data:[^,]{0,200};base64,\s{0,10}/i;

/** The first characters of the three formats in base64. */
const IMAGE_BASE64 = /^(?:\/9j\/|iVBORw0KGgo|UklGR)/;

/** Markup, and base64 of markup, GIF and PDF: neither supported images nor addresses. */
const OTHER_FILE = /^\s*<|^(?:PHN2Zy|PD94bWwg|PCFET0NUWVBF|PCFkb2N0eXBl|PGh0bWw|PEhUTUw|R0lGOD|JVBERi)/;

/**
 * An address is a URL or a path, without blanks unless it is an absolute path in a file system. The other characters
 * that RFC 3986 excludes are allowed where makers of devices use them.
 */
const ADDRESS = /^(?:[^\s<>"\p{Cc}]+|(?:[A-Za-z]:[\\/]|\\\\|\/)[^<>"\p{Cc}]*)$/u;
const SCRIPT_URL = /^\s*(?:javascript|vbscript):/i;
const NO_ADDRESS =
  'This is neither an address nor an image: send the address of an image without blanks, or a JPEG, PNG or WebP image in base64';

/**
 * A text that begins like an image in base64 is decoded as one if it is longer than this, in characters; a shorter one
 * only if it contains nothing but base64.
 */
const REFERENCE_MAX = 2048;
const ONLY_BASE64 = /^[A-Za-z0-9+/\s]+={0,2}$/;

/**
 * Decodes an image from one of an event's `images` and checks, by its bytes, that it is of a supported format and, by
 * its header, that its size is reasonable. Decoding and hashing 7 MB takes some 10 to 50 ms.
 * @param path of the value in the input, for messages
 * @returns null when the value is an address or another short text
 * @throws AppError `badRequest` for a value that appears to be an image and is not valid
 */
export function readImage(value: string, path: string): ReceivedImage | null {
  if (OTHER_FILE.test(value)) throw invalidInput(path, NOT_AN_IMAGE);
  if (!isImageData(value)) return null;
  const url = IMAGE_URL.exec(value);
  if (!url && DATA_URL.test(value)) throw invalidInput(path, NOT_AN_IMAGE);
  const bytes = decodeBase64(url ? value.slice(url[0].length) : value);
  if (!bytes) throw invalidInput(path, 'The image is not valid base64');
  const image = readImageBytes(bytes);
  if ('refusal' in image) throw invalidInput(path, image.refusal);
  return image;
}

/** What is stored with the images: images, and the files of certificates. */
export type FileType = MediaType | 'application/pdf';

const ENDINGS: Readonly<{ [type: string]: string }> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'application/pdf': 'pdf',
} satisfies Record<FileType, string>;

/** What the name of a stored file ends with, by its type. */
export function endingOf(type: string | null): string {
  return ENDINGS[type ?? ''] ?? 'bin';
}

/** A file to be stored with the images; the size in pixels of one that is no image is 0. */
export interface ReceivedFile extends Omit<ReceivedImage, 'mediaType'> {
  readonly mediaType: FileType;
}

const PDF_URL = /^data:application\/pdf;base64,/i;
const NO_FILE = 'Send a PDF, JPEG, PNG or WebP file in base64';
/** A PDF ends with this mark, which some programs let some bytes follow. */
const END_OF_PDF = '%%EOF';
const PDF_TAIL = 1_024;

/**
 * Decodes a PDF or an image in base64, and checks by its bytes that it is one.
 * @param path of the value in the input, for messages
 * @throws AppError `badRequest` for anything else, and for a file that is too large or incomplete
 */
export function readFile(value: string, path: string, maxBytes: number): ReceivedFile {
  const url = PDF_URL.exec(value) ?? IMAGE_URL.exec(value);
  if (!url && DATA_URL.test(value)) throw invalidInput(path, NO_FILE);
  const bytes = decodeBase64(url ? value.slice(url[0].length) : value);
  if (!bytes || bytes.length === 0) throw invalidInput(path, `The file is not valid base64: ${NO_FILE}`);
  if (bytes.length > maxBytes)
    throw invalidInput(path, `The file has more than ${maxBytes / 1e6} MB: send a smaller one`);
  if (bytes.subarray(0, 5).toString('latin1') === '%PDF-') {
    if (!bytes.subarray(-PDF_TAIL).toString('latin1').includes(END_OF_PDF))
      throw invalidInput(path, 'The PDF is incomplete: its end is missing');
    return { sha256: hash('sha256', bytes, 'hex'), mediaType: 'application/pdf', width: 0, height: 0, bytes };
  }
  const image = readImageBytes(bytes);
  if ('refusal' in image) throw invalidInput(path, NO_FILE);
  return image;
}

/** @throws AppError `badRequest` for a text that is not an address */
export function requireAddress(value: string, path: string): void {
  if (!ADDRESS.test(value) || SCRIPT_URL.test(value)) throw invalidInput(path, NO_ADDRESS);
}

const SERVED = /^\/images\/([0-9a-f]{64})$/;

/** The hashes of those of the addresses at which the service serves images. */
export function hashesOfServed(addresses: readonly string[]): string[] {
  return addresses.flatMap((address) => SERVED.exec(address)?.[1] ?? []);
}

function isImageData(value: string): boolean {
  return (
    DATA_URL.test(value) ||
    (IMAGE_BASE64.test(value) && (value.length > REFERENCE_MAX || ONLY_BASE64.test(value.trimEnd())))
  );
}

/** The bytes, or null if it is not valid base64: characters that Node skips change the length. */
function decodeBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === Buffer.byteLength(text, 'base64')) return bytes;
  const dense = text.replace(/\s+/g, '');
  return dense.length < text.length ? decodeBase64(dense) : null;
}
