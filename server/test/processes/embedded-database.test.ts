import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedDatabase } from '@gantry/embedded-postgres';
import { DataFolderUnusable } from '@gantry/embedded-postgres/data-folder';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { checkDatabase } from '../../src/operations/doctor/database.ts';
import { readConfig } from '../../src/platform/config.ts';
import { dataFolderAt, openDatabaseOf } from '../../src/platform/database/open.ts';
import { createDatabase, createPool } from '../../src/platform/database/pool.ts';
import { copyDataFolder } from '../data-folders.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'gantry-installation-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

describe('the embedded database of an installation', () => {
  it('is not checked like a server of its own in a worker, which knows it by its address', async () => {
    await copyDataFolder(inject('dataFolderTemplate'), dataDir);
    await using database = await startEmbeddedDatabase({
      folder: dataFolderAt(dataDir),
      log: () => undefined,
    });
    const { connectionString } = database;
    const client = new Client({ connectionString });
    await client.connect();
    await client.query('ALTER DATABASE gantry SET wal_compression = pglz').finally(() => client.end());
    const pool = createPool(connectionString, 1, () => undefined);
    try {
      const codesWith = async (DATA_DIR: string) => {
        const config = readConfig({ DATABASE_URL: connectionString, DATA_DIR });
        return (await checkDatabase(createDatabase(pool), config)).map(({ code }) => code);
      };
      expect(await codesWith(tmpdir())).toContain('walCompression');
      const codes = await codesWith(dataDir);
      expect(codes).toContain('databaseAnswers');
      expect(codes).not.toContain('walCompression');
      expect(codes).not.toContain('pagesWrittenLate');
    } finally {
      await pool.end();
    }
  });

  it('cannot be opened in a file, which is explained', async () => {
    const file = join(dataDir, 'file');
    await writeFile(file, 'a file, not a folder');
    await expect(openDatabaseOf({ DATA_DIR: file })).rejects.toThrow(DataFolderUnusable);
  });
});
