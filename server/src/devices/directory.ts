import { keepLatest } from '../platform/caches.ts';
import { databaseAway, isOutage } from '../platform/database/failure.ts';
import type { FormatName } from './format.ts';
import { hashOf } from './secrets.ts';
import type { KnownConnection } from './store.ts';

/** The connections as known to this process; changes made by other processes arrive within a second. */
export interface ConnectionDirectory {
  /**
   * The connection with the token; null when there is none. A connection that was just created by another process is
   * found in the database.
   * @throws AppError `unavailable` while the database is unavailable and the connection is not known
   */
  byToken(token: string): Promise<KnownConnection | null>;
  /** The connection with the user name; otherwise as `byToken`. */
  byUsername(username: string): Promise<KnownConnection | null>;
  /**
   * The connection with the id; null when there is none. One that is not known is read from the database, without the
   * limit on such queries; errors of the database are not converted.
   */
  byId(id: string): Promise<KnownConnection | null>;
  /** The connection with the id as it is in the database now; null when there is none. */
  read(id: string): Promise<KnownConnection | null>;
  ofFormat(format: FormatName): readonly KnownConnection[];
  all(): readonly KnownConnection[];
  /** Reads the connections again, after a change. */
  refresh(): Promise<void>;
}

export interface DirectoryParts {
  readonly load: () => Promise<readonly KnownConnection[]>;
  readonly findByToken: (tokenHash: Buffer) => Promise<KnownConnection | null>;
  readonly findByUsername: (username: string) => Promise<KnownConnection | null>;
  readonly findById: (id: string) => Promise<KnownConnection | null>;
}

/** Maximum number of queries per second for connections that this process does not know. */
const SEARCHES_PER_SECOND = 50;

interface Index {
  readonly byToken: ReadonlyMap<string, KnownConnection>;
  readonly byUsername: ReadonlyMap<string, KnownConnection>;
  readonly byId: ReadonlyMap<string, KnownConnection>;
  readonly byFormat: ReadonlyMap<FormatName, readonly KnownConnection[]>;
}

export async function createDirectory(parts: DirectoryParts): Promise<ConnectionDirectory> {
  const latest = await keepLatest(async () => indexOf(await parts.load()));
  let searches = 0;
  let second = 0;

  /** Queries the database for a connection. When the limit is exceeded, returns null, as for an unknown connection. */
  const search = async (find: () => Promise<KnownConnection | null>): Promise<KnownConnection | null> => {
    const now = Math.floor(performance.now() / 1_000);
    if (now !== second) {
      second = now;
      searches = 0;
    }
    if (++searches > SEARCHES_PER_SECOND) return null;
    return find().catch((error: unknown) => {
      throw isOutage(error) ? databaseAway(error) : error;
    });
  };

  return {
    async byToken(token) {
      const hash = hashOf(token);
      return latest.current().byToken.get(hash.toString('hex')) ?? search(() => parts.findByToken(hash));
    },
    async byUsername(username) {
      return latest.current().byUsername.get(username) ?? search(() => parts.findByUsername(username));
    },
    async byId(id) {
      return latest.current().byId.get(id) ?? parts.findById(id);
    },
    read: parts.findById,
    ofFormat: (format) => latest.current().byFormat.get(format) ?? [],
    all: () => [...latest.current().byId.values()],
    refresh: latest.refresh,
  };
}

function indexOf(connections: readonly KnownConnection[]): Index {
  const by = (key: (connection: KnownConnection) => string) =>
    new Map(connections.map((connection) => [key(connection), connection]));
  return {
    byToken: by(({ tokenHash }) => tokenHash),
    byUsername: by(({ username }) => username),
    byId: by(({ id }) => id),
    byFormat: groupByFormat(connections),
  };
}

function groupByFormat(connections: readonly KnownConnection[]): Map<FormatName, KnownConnection[]> {
  const groups = new Map<FormatName, KnownConnection[]>();
  for (const connection of connections) {
    const group = groups.get(connection.format);
    if (group) group.push(connection);
    else groups.set(connection.format, [connection]);
  }
  return groups;
}
