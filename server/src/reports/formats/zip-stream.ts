import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { Zip, ZipDeflate } from 'fflate';

/** A ZIP archive that is written to a stream while its files are produced, one file after another. */
export interface ZipStream {
  /** Adds a file of text in UTF-8. Each part is compressed when it is produced, and the next one waits until the stream accepts more. */
  add(name: string, parts: AsyncIterable<string> | Iterable<string>): Promise<void>;
  /** Writes the directory and ends the stream. */
  end(): Promise<void>;
}

/** The level that compressors use by default. */
const LEVEL = 6;

/** Creates an archive. Errors of the stream reject the next call. */
export function createZipStream(to: Writable): ZipStream {
  let failure: Error | null = null;
  let isFull = false;
  const fail = (error: Error): void => {
    failure ??= error;
  };
  to.on('error', fail);
  const zip = new Zip((error, chunk) => {
    if (error) fail(error);
    else isFull = !to.write(chunk);
  });
  const encoder = new TextEncoder();
  const accepted = async (): Promise<void> => {
    if (failure) throw failure;
    if (!isFull) return;
    await once(to, 'drain');
    isFull = false;
  };
  return {
    async add(name, parts) {
      const file = new ZipDeflate(name, { level: LEVEL });
      zip.add(file);
      for await (const part of parts) {
        file.push(encoder.encode(part));
        await accepted();
      }
      file.push(new Uint8Array(), true);
      await accepted();
    },
    async end() {
      zip.end();
      await accepted();
      to.end();
      await finished(to, { readable: false });
    },
  };
}
