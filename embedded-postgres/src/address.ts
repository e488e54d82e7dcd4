/** The role that owns everything. */
export const OWNER = 'gantry';

/** The database of the service within a cluster. */
export const DATABASE = 'gantry';

/** The connection string of a database of a server on this machine. */
export function addressOnPort(port: number, password: string, database = DATABASE): string {
  return `postgres://${OWNER}:${password}@127.0.0.1:${port}/${database}`;
}
