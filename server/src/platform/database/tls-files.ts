import pg from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';

/** A file that the connection string names (`sslrootcert`, `sslcert`, `sslkey`) cannot be read. */
export class UnreadableTlsFile extends Error {
  override readonly name = 'UnreadableTlsFile';
}

/** The callback of pg: an error, or null and the client. */
type Connected = (error: Error | null, client?: pg.Client) => void;

/**
 * A client that fails to connect if a file of its connection string cannot be read. `pg.Client` reads these files in its
 * constructor and throws: in a pool this may happen in an event handler, where it would end the process.
 */
export class Client extends pg.Client {
  declare private readonly unreadable: UnreadableTlsFile | null;

  constructor(config: pg.ClientConfig = {}) {
    const settings = readFiles(config);
    const isUnreadable = settings instanceof UnreadableTlsFile;
    super(isUnreadable ? {} : settings);
    this.unreadable = isUnreadable ? settings : null;
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.Client> | undefined {
    const { unreadable } = this;
    if (unreadable === null) {
      if (!callback) return super.connect();
      super.connect(callback);
    } else {
      if (!callback) return Promise.reject(unreadable);
      process.nextTick(callback, unreadable);
    }
    return undefined;
  }
}

/** Whether an error comes from reading a file. It has a path only if the file could not be opened. */
export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

/**
 * The settings, with the connection string replaced by the settings that it contains, as pg does. Returns an error if a
 * file that it names cannot be read.
 */
function readFiles({ connectionString, ...own }: pg.ClientConfig): pg.ClientConfig | UnreadableTlsFile {
  if (connectionString === undefined) return own;
  try {
    return { ...own, ...parseIntoClientConfig(connectionString) };
  } catch (cause) {
    if (!isFileError(cause)) throw cause;
    const file = cause.path ? `the file ${cause.path}` : 'a file';
    return new UnreadableTlsFile(`DATABASE_URL names ${file}, which cannot be read (${cause.code})`);
  }
}
