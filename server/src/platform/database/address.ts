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
