import type { EventEmitter } from 'node:events';
import type { ClientConfig } from 'pg';
import pg from 'pg';
import { parse, parseIntoClientConfig } from 'pg-connection-string';
import { NoPrimary, Primary, type Server } from './primary.ts';

/**
 * What is wrong with a connection string, as the end of a sentence that begins with the name of the setting; null if it
 * can be used. No connection is opened.
 */
export function addressFlaw(connectionString: string): string | null {
  try {
    const { hosts, first } = splitHosts(withCheckedCertificate(connectionString));
    const { host, port } = parse(first);
    for (const each of hosts.length > 1 ? hosts : [{ host, port }]) {
      const number = each.port ? Number(each.port) : DEFAULT_PORT;
      if (!(Number.isInteger(number) && number > 0 && number < 65_536))
        return `has no valid port: ${each.port}`;
      if (each.host === '' && hosts.length > 1)
        return 'names an empty host: write host1,host2 without spaces';
    }
    if (host?.includes(','))
      return 'names several hosts after the ?: write postgresql://user@host1,host2/database';
    return host === undefined ? 'names no host' : null;
  } catch (error) {
    if (isFileError(error))
      return `names ${error.path ? `the file ${error.path}` : 'a file'}, which cannot be read (${error.code})`;
    // The message of a parser repeats the text, with the password.
    return 'cannot be understood: characters such as @ : / ? # % in the user name or password must be percent-encoded, for example # as %23';
  }
}

const DEFAULT_PORT = 5432;

/** A server of a connection string, and its port as it is written there; '' for the default. */
interface NamedHost {
  readonly host: string;
  readonly port: string;
}

/**
 * Splits a connection string that names several servers, as libpq reads them: `postgresql://user@one,two:5433/database`.
 * @returns the servers, and the connection string with the first one only, which pg can read
 */
function splitHosts(connectionString: string): {
  readonly hosts: readonly NamedHost[];
  readonly first: string;
} {
  const [, scheme = '', afterScheme = ''] = /^([a-z]+:\/\/)(.*)$/is.exec(connectionString) ?? [];
  const end = afterScheme.search(/[/?#]/);
  const beforePath = end === -1 ? afterScheme : afterScheme.slice(0, end);
  const authority = beforePath.slice(beforePath.lastIndexOf('@') + 1);
  if (!authority.includes(',')) return { hosts: [], first: connectionString };
  const start = scheme + beforePath.slice(0, beforePath.length - authority.length);
  const rest = afterScheme.slice(beforePath.length);
  const names = authority.split(',');
  const hosts = names.map((name) => {
    const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(.*))?$/.exec(name) ?? [];
    return { host: bracketed ?? plain ?? name, port: port ?? '' };
  });
  return { hosts, first: `${start}${names[0]}${rest}` };
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
 * several values for a setting, the server uses the last. Pools use the class in `Client`. Days of intervals and dates are those of
 * UTC, whatever the time zone of the server is.
 */
export function clientSettings<Own extends ClientConfig>(connectionString: string, own: Own) {
  const { hosts, first } = splitHosts(withCheckedCertificate(connectionString));
  const [address = '', query] = first.split(/\?(.*)/s);
  const servers = hosts.map(({ host, port }) => ({ host, port: Number(port) || DEFAULT_PORT }));
  const parameters = new URLSearchParams(query);
  const options = [...parameters.getAll('options'), '-c TimeZone=UTC', own.options ?? ''].join(' ').trim();
  for (const name of ['options', ...Object.keys(own)]) parameters.delete(name);
  const used = query === undefined ? address : `${address}?${parameters}`;
  return { ...own, options, Client, servers, connectionString: used };
}

/** The server, the database and the user of a connection string, for messages. The password is left out. */
export function describeAddress(connectionString: string): {
  server: string;
  database: string;
  user: string;
} {
  const { hosts, first } = splitHosts(connectionString);
  // TLS parameters do not matter here, and the files that they name may be missing.
  const { host, port, database, user } = parse(first.replace(/(?<=[?&])ssl\w+=[^&]*/g, ''));
  const server =
    hosts.length > 0
      ? hosts.map((each) => describeServer(each.host, each.port)).join(' or ')
      : describeServer(host || 'localhost', port ?? '');
  return { server, database: database || user || 'postgres', user: user || 'the user of this process' };
}

function describeServer(host: string, port: string): string {
  if (host.startsWith('/')) return `${host} (port ${port || DEFAULT_PORT})`;
  return `${host.includes(':') ? `[${host}]` : host}:${port || DEFAULT_PORT}`;
}

/** A file that the connection string names (`sslrootcert`, `sslcert`, `sslkey`) cannot be read. */
export class UnreadableTlsFile extends Error {
  override readonly name = 'UnreadableTlsFile';
}

/** The callback of pg: an error, or null and the client. */
type Connected = (error: Error | null, client?: pg.Client) => void;

/** What a client of pg receives from the server. */
type Reporting = EventEmitter<{ parameterStatus: [Readonly<Record<string, string>>] }>;

/** The settings of a client, and the servers of which it connects to the primary; [] if the settings name the only one. */
export type Settings = pg.ClientConfig & { readonly servers?: readonly Server[] };

/**
 * A client that fails to connect if a file of its connection string cannot be read. `pg.Client` reads these files in its
 * constructor and throws: in a pool this may happen in an event handler, where it would end the process. Of several
 * servers, it connects to the primary.
 */
export class Client extends pg.Client {
  declare private readonly unreadable: UnreadableTlsFile | null;
  declare private readonly primary: Primary | null;

  constructor({ servers = [], ...config }: Settings = {}) {
    const settings = readFiles(config);
    const isUnreadable = settings instanceof UnreadableTlsFile;
    super(isUnreadable ? {} : settings);
    this.unreadable = isUnreadable ? settings : null;
    this.primary = isUnreadable || servers.length < 2 ? null : new Primary(servers, settings);
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.Client> | undefined {
    const { unreadable, primary } = this;
    if (primary !== null) {
      const connected = this.connectTo(primary);
      if (!callback) return connected;
      connected.then(
        () => callback(null, this),
        (error: Error) => callback(error),
      );
    } else if (unreadable === null) {
      if (!callback) return super.connect();
      super.connect(callback);
    } else {
      if (!callback) return Promise.reject(unreadable);
      process.nextTick(callback, unreadable);
    }
    return undefined;
  }

  private async connectTo(primary: Primary): Promise<pg.Client> {
    const server = await primary.find();
    Object.assign(this, server);
    let isStandby = false;
    // pg keeps no settings that the server reports.
    const { connection } = this as unknown as { readonly connection: Reporting };
    connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
      if (parameterName === 'in_hot_standby') isStandby = parameterValue === 'on';
    });
    try {
      await super.connect();
      if (!isStandby) return this;
      await this.end();
      throw new NoPrimary(`The database server ${server.host}:${server.port} has become a standby`);
    } catch (error) {
      primary.forget();
      throw error;
    }
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
