import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedDatabase } from '@gantry/embedded-postgres';
import pg from 'pg';
import { appRouter } from '../src/api/router.ts';
import { migrate } from '../src/platform/database/migrate.ts';
import { dataFolderAt } from '../src/platform/database/open.ts';
import { migrationsFolder } from '../src/platform/installation.ts';
import { apiPage } from './generate/api-page.ts';
import { commonPasswordsModule } from './generate/common-passwords.ts';
import { configurationPage, environmentExample } from './generate/configuration-page.ts';
import { describeSchema } from './generate/describe-schema.ts';
import { devicesPage } from './generate/devices-page.ts';
import { plateConfusablesModule } from './generate/plate-confusables.ts';

// Writes the generated files; with --check it only reports whether they are up to date.

const root = fileURLToPath(new URL('../../', import.meta.url));

const schemaPage = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-schema-'));
  // If started by root, PostgreSQL runs as another user, who must be able to enter.
  await chmod(folder, 0o711);
  const database = await startEmbeddedDatabase({ folder: dataFolderAt(folder), log: () => undefined });
  const pool = new pg.Pool({ connectionString: database.connectionString });
  // The server may stop before the connections of the pool are closed, which is not an error.
  pool.on('error', () => undefined);
  try {
    await migrate(database.connectionString, { folder: migrationsFolder });
    return await describeSchema(pool);
  } finally {
    await pool.end();
    await database[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }
};

const files: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/api.md': () => apiPage(appRouter),
  'docs/configuration.md': configurationPage,
  'docs/devices.md': devicesPage,
  '.env.example': environmentExample,
  'server/schema.sql': schemaPage,
  'server/src/accounts/common-password-list.ts': commonPasswordsModule,
  'contract/src/plate-confusables.ts': plateConfusablesModule,
};

const isCheck = process.argv.includes('--check');
const stale: string[] = [];
for (const [name, generate] of Object.entries(files)) {
  const path = join(root, name);
  const wanted = await generate();
  const present = await readFile(path, 'utf8').catch(() => null);
  if (present === wanted) continue;
  stale.push(name);
  if (!isCheck) await writeFile(path, wanted);
}

const verb = isCheck ? 'Stale' : 'Written';
process.stdout.write(
  stale.length === 0 ? 'Generated files are up to date\n' : `${verb}: ${stale.join(', ')}\n`,
);
if (isCheck && stale.length > 0) {
  process.stderr.write('Run: npm run generate\n');
  process.exitCode = 1;
}
