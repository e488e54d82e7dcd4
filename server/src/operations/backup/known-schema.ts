import { readMigrations } from '../../platform/database/migrate.ts';
import { migrationsFolder } from '../../platform/installation.ts';
import { BackupRefused } from './refusal.ts';

/**
 * Requires that this version knows the whole schema of a database: tables that it does not know would be left out.
 * @param applied the migrations that were applied to it
 * @throws BackupRefused when a newer version has migrated it
 */
export async function requireKnownSchema(applied: readonly { readonly name: string }[]): Promise<void> {
  const known = new Set((await readMigrations(migrationsFolder)).map(({ name }) => name));
  const unknown = applied.find(({ name }) => !known.has(name));
  if (!unknown) return;
  throw new BackupRefused(
    `The database has migration ${unknown.name}, which this version does not know: use the version that runs on it`,
  );
}
