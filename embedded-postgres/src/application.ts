/**
 * What the program that embeds PostgreSQL passes in: the names that it gives to things, and the settings that messages tell
 * its users to change.
 */
export interface Application {
  /** Its name in messages, such as `Weather`. */
  readonly name: string;
  /** The name of the role and of the database, such as `weather`. It must never change: data are found by it. */
  readonly database: string;
  /** The setting with the path of the data folder, such as `DATA_DIR`. */
  readonly folderSetting: string;
  /** The setting with the connection string of another server, which is used instead, such as `DATABASE_URL`. */
  readonly serverSetting: string;
  /** The versions of PostgreSQL that another server may have, such as `15 to 18`. */
  readonly serverVersions: string;
  /**
   * The folder for databases whose data folder PostgreSQL's user cannot enter, such as `/var/lib/weather-postgresql`. It is
   * used only if the program runs as root.
   */
  readonly sharedFolder: string;
  /** The folder that earlier versions used instead. A database in it is moved to `sharedFolder` when it is started. */
  readonly formerSharedFolder?: string;
}

/**
 * The connection string of the server on a port of this machine.
 * @param database - that of the application by default
 */
export function connectionStringOf(
  application: Application,
  port: number,
  password: string,
  database = application.database,
): string {
  return `postgres://${application.database}:${password}@127.0.0.1:${port}/${database}`;
}
