import type { Readable } from 'node:stream';

/**
 * A store of files that are named by their content, so that a name always denotes the same bytes. Keys are 64
 * hexadecimal digits. Errors of the store are thrown unchanged.
 */
export interface BlobStore extends AsyncDisposable {
  /** Stores a file; it is durable when this resolves. An existing file stays or is replaced by an identical one. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** The bytes of a file, whatever they are; null when there is none. */
  get(key: string): Promise<Readable | null>;
  /** The size of a file in bytes; null when there is none. */
  stat(key: string): Promise<{ readonly bytes: number } | null>;
  /** Removes a file if it exists. */
  delete(key: string): Promise<void>;
  /** All files, in no particular order. */
  list(): AsyncIterable<{ readonly key: string; readonly bytes: number }>;
}
