import type { Readable } from 'node:stream';

/** A part of a file: both positions inclusive, from 0. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Where files lie that are named by what is in them, so that the same name is always the same bytes. Keys are 64
 * hexadecimal digits. Whatever fails for reasons of the place itself is thrown as it is.
 */
export interface BlobStore extends AsyncDisposable {
  /** Stores a file; it is durable when this resolves. One that is there already stays or is replaced by its equal. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** The bytes of a file or of a part that lies within it; null when there is none. */
  get(key: string, range?: ByteRange): Promise<Readable | null>;
  /** The size of a file in bytes; null when there is none. */
  stat(key: string): Promise<{ readonly bytes: number } | null>;
  /** Removes a file, if there is one. */
  delete(key: string): Promise<void>;
  /** All files, in no particular order. */
  list(): AsyncIterable<{ readonly key: string; readonly bytes: number }>;
}
