import type { FormatName } from '@gantry/device-formats/format';
import { keepLatest, type Latest } from '../platform/caches.ts';
import { databaseAway, isOutage } from '../platform/database/failure.ts';
import type { Database } from '../platform/database/pool.ts';
import { hashOf } from './secrets.ts';
import {
  findByTokenHash,
  findByUsername,
  findConnection,
  type KnownConnection,
  listKnownConnections,
} from './store.ts';

/** Maximum number of queries per second for connections that this process does not know. */
const SEARCHES_PER_SECOND = 50;

interface Index {
  readonly byToken: ReadonlyMap<string, KnownConnection>;
  readonly byUsername: ReadonlyMap<string, KnownConnection>;
  readonly byId: ReadonlyMap<string, KnownConnection>;
  readonly byFormat: ReadonlyMap<FormatName, readonly KnownConnection[]>;
}

/** The connections as known to this process; changes made by other processes arrive within a second. */
export class ConnectionDirectory {
  readonly #db: Database;
  readonly #latest: Latest<Index>;
  #searches = 0;
  #second = 0;

  private constructor(db: Database, latest: Latest<Index>) {
    this.#db = db;
    this.#latest = latest;
  }

  static async load(db: Database): Promise<ConnectionDirectory> {
    return new ConnectionDirectory(db, await keepLatest(async () => indexOf(await listKnownConnections(db))));
  }

  /**
   * The connection with the token; null when there is none. A connection that was just created by another process is
   * found in the database.
   * @throws AppError `unavailable` while the database is unavailable and the connection is not known
   */
  async byToken(token: string): Promise<KnownConnection | null> {
    const hash = hashOf(token);
    const known = this.#latest.current().byToken.get(hash.toString('hex'));
    return known ?? this.#search(() => findByTokenHash(this.#db, hash));
  }

  /** The connection with the user name; otherwise as `byToken`. */
  async byUsername(username: string): Promise<KnownConnection | null> {
    const known = this.#latest.current().byUsername.get(username);
    return known ?? this.#search(() => findByUsername(this.#db, username));
  }

  /**
   * The connection with the id; null when there is none. One that is not known is read from the database, without the
   * limit on such queries; errors of the database are not converted.
   */
  async byId(id: string): Promise<KnownConnection | null> {
    return this.#latest.current().byId.get(id) ?? this.read(id);
  }

  /** The connection with the id as it is in the database now; null when there is none. */
  read(id: string): Promise<KnownConnection | null> {
    return findConnection(this.#db, id);
  }

  ofFormat(format: FormatName): readonly KnownConnection[] {
    return this.#latest.current().byFormat.get(format) ?? [];
  }

  all(): readonly KnownConnection[] {
    return [...this.#latest.current().byId.values()];
  }

  /** Reads the connections again, after a change. */
  refresh(): Promise<void> {
    return this.#latest.refresh();
  }

  /** Queries the database for a connection. When the limit is exceeded, returns null, as for an unknown connection. */
  async #search(find: () => Promise<KnownConnection | null>): Promise<KnownConnection | null> {
    const now = Math.floor(performance.now() / 1_000);
    if (now !== this.#second) {
      this.#second = now;
      this.#searches = 0;
    }
    if (++this.#searches > SEARCHES_PER_SECOND) return null;
    return find().catch((error: unknown) => {
      throw isOutage(error) ? databaseAway(error) : error;
    });
  }
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
