import type { ClientConfig } from 'pg';
import { parse } from 'pg-connection-string';

/**
 * What is wrong with a connection string, as the end of a sentence that begins with its name; null if it can be used.
 * Nothing is connected.
 */
export function addressFlaw(connectionString: string): string | null {
  try {
    const { host, port } = parse(connectionString);
    const number = port ? Number(port) : 5432;
    if (!(Number.isInteger(number) && number > 0 && number < 65_536)) return `has no valid port: ${port}`;
    return host === undefined ? 'names no host' : null;
  } catch (error) {
    // The message of a parser repeats the text, with the password.
    const { code, path } = error as NodeJS.ErrnoException;
    if (path !== undefined) return `names the file ${path}, which cannot be read (${code})`;
    return 'cannot be understood: characters such as @ : / ? # % in the user name or password must be percent-encoded, for example # as %23';
  }
}

/**
 * The settings of a client of the service. `pg` would prefer every parameter of the connection string to the setting of
 * that name. Here the service's own settings are preferred, because it depends on them: commands recognize a running
 * service by the names of its connections. Options are added to those of the connection string, and the last one counts.
 */
export function clientSettings<Own extends ClientConfig>(connectionString: string, own: Own) {
  const [address = '', query] = connectionString.split(/\?(.*)/s);
  if (query === undefined) return { ...own, connectionString };
  const parameters = new URLSearchParams(query);
  const options = [...parameters.getAll('options'), own.options ?? ''].join(' ').trim();
  for (const name of ['options', ...Object.keys(own)]) parameters.delete(name);
  return { ...own, ...(options !== '' && { options }), connectionString: `${address}?${parameters}` };
}

/** The server and the database of a connection string, for messages: without user name and password. */
export function describeAddress(connectionString: string): {
  server: string;
  database: string;
  user: string;
} {
  const { host, port, database, user } = parse(connectionString);
  const isSocket = host?.startsWith('/');
  const name = host?.includes(':') ? `[${host}]` : host || 'localhost';
  const server = isSocket ? `${host} (port ${port || 5432})` : `${name}:${port || 5432}`;
  return { server, database: database || user || 'postgres', user: user || 'the user of this process' };
}
