import type { ClientConfig } from 'pg';
import pg from 'pg';
import { parse, parseIntoClientConfig } from 'pg-connection-string';

/**
 * What is wrong with a connection string, as the end of a sentence that begins with the name of the setting; null if it
 * can be used. No connection is opened.
 */
export function addressFlaw(connectionString: string): string | null {
  try {
    const { host, port } = parse(withCheckedCertificate(connectionString));
    const number = port ? Number(port) : 5432;
    if (!(Number.isInteger(number) && number > 0 && number < 65_536)) return `has no valid port: ${port}`;
    return host === undefined ? 'names no host' : null;
  } catch (error) {
    if (isFileError(error))
      return `names ${error.path ? `the file ${error.path}` : 'a file'}, which cannot be read (${error.code})`;
    // The message of a parser repeats the text, with the password.
    return 'cannot be understood: characters such as @ : / ? # % in the user name or password must be percent-encoded, for example # as %23';
  }
}

/**
 * The connection string with `sslmode=verify-full` in place of the modes that pg treats in the same way. pg prints a
 * warning about those on standard error.
 */
function withCheckedCertificate(connectionString: string): string {
  if (/[?&]uselibpqcompat=true/.test(connectionString)) return connectionString;
  return connectionString.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/g, '$1verify-full');
}

/**
 * The settings of a client or a pool of the service. In pg, a parameter of the connection string overrides the setting
 * of the same name. Here the service's own settings override it, because the service depends on them: commands recognize
 * a running service by the names of its connections. The service's `options` follow those of the connection string; of
 * several values for a setting, the server uses the last. Pools use the class in `Client`.
 */
export function clientSettings<Own extends ClientConfig>(connectionString: string, own: Own) {
  const [address = '', query] = withCheckedCertificate(connectionString).split(/\?(.*)/s);
  if (query === undefined) return { ...own, Client, connectionString };
  const parameters = new URLSearchParams(query);
  const options = [...parameters.getAll('options'), own.options ?? ''].join(' ').trim();
  for (const name of ['options', ...Object.keys(own)]) parameters.delete(name);
  return {
    ...own,
    ...(options !== '' && { options }),
    Client,
    connectionString: `${address}?${parameters}`,
  };
}

/** The server, the database and the user of a connection string, for messages. The password is left out. */
export function describeAddress(connectionString: string): {
  server: string;
  database: string;
  user: string;
} {
  // TLS parameters do not matter here, and the files that they name may be missing.
  const { host, port, database, user } = parse(connectionString.replace(/(?<=[?&])ssl\w+=[^&]*/g, ''));
  const isSocket = host?.startsWith('/');
  const name = host?.includes(':') ? `[${host}]` : host || 'localhost';
  const server = isSocket ? `${host} (port ${port || 5432})` : `${name}:${port || 5432}`;
  return { server, database: database || user || 'postgres', user: user || 'the user of this process' };
}

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
function isFileError(error: unknown): error is NodeJS.ErrnoException {
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
