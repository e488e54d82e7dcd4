import pg from 'pg';

/** A PostgreSQL server. */
export interface Server {
  readonly host: string;
  readonly port: number;
}

/** None of the servers accepts writes, or more than one does. */
export class NoPrimary extends Error {
  override readonly name = 'NoPrimary';
}

interface Answer {
  readonly server: Server;
  /** The number of its timeline, which increases with each promotion; null if it is a standby. */
  readonly timeline: number | null;
}

/** Maximum time for a server to answer, in milliseconds. */
const ANSWER_MS = 3_000;

const nameOf = ({ host, port }: Server): string => `${host}:${port}`;

/** Which server was the primary when it was last looked for, by the names of all. */
const found = new Map<string, Promise<Server>>();

/** The one of several servers, of which the others are its standbys, that accepts writes. */
export class Primary {
  readonly #servers: readonly Server[];
  readonly #settings: pg.ClientConfig;
  readonly #names: string;

  /** @param settings those of a connection, but for the server */
  constructor(servers: readonly Server[], settings: pg.ClientConfig) {
    this.#servers = servers;
    this.#settings = settings;
    this.#names = servers.map(nameOf).join();
  }

  /**
   * The primary, as found before; otherwise, all servers are asked.
   * @throws NoPrimary
   * @throws the first error if no server answers
   */
  find(): Promise<Server> {
    const known = found.get(this.#names);
    if (known !== undefined) return known;
    const finding = this.#ask();
    found.set(this.#names, finding);
    finding.catch(() => this.forget());
    return finding;
  }

  /** Has it looked for again, because the one that was found no longer answers. */
  forget(): void {
    found.delete(this.#names);
  }

  async #ask(): Promise<Server> {
    const answers = await Promise.allSettled(this.#servers.map((server) => this.#timelineOf(server)));
    const answered = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    const primaries = answered.filter(({ timeline }) => timeline !== null);
    const latest = Math.max(...primaries.map(({ timeline }) => Number(timeline)));
    // A primary that was down while a standby was promoted, and came back, has an earlier timeline.
    const [primary, second] = primaries.filter(({ timeline }) => timeline === latest);
    if (primary && second)
      throw new NoPrimary(
        `The database servers ${nameOf(primary.server)} and ${nameOf(second.server)} both accept writes: stop the one that is not the primary`,
      );
    if (primary) return primary.server;
    if (answered.length > 0)
      throw new NoPrimary(
        `None of the database servers ${this.#servers.map(nameOf).join(', ')} accepts writes: promote a standby, or start the primary`,
      );
    throw answers.find((answer) => answer.status === 'rejected')?.reason;
  }

  async #timelineOf(server: Server): Promise<Answer> {
    const client = new pg.Client({
      ...this.#settings,
      ...server,
      application_name: 'gantry primary',
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
      statement_timeout: ANSWER_MS,
    });
    client.on('error', () => undefined);
    await client.connect();
    try {
      const { rows } = await client.query<{ timeline: string | null }>(
        `SELECT CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS timeline`,
      );
      const timeline = rows[0]?.timeline ?? null;
      return { server, timeline: timeline === null ? null : Number.parseInt(timeline, 16) };
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
