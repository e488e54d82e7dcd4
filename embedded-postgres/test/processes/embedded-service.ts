import { DataFolder } from '../../src/data-folder.ts';
import { startEmbeddedDatabase } from '../../src/embedded.ts';
import { WEATHER } from '../application.ts';

// A process that runs only the embedded database, in the folder that its argument names, until it is killed.

const database = await startEmbeddedDatabase({
  folder: new DataFolder(process.argv[2] ?? '', WEATHER),
  log: (line) => process.stderr.write(`${line}\n`),
});
process.stdout.write(database.connectionString);
setInterval(() => undefined, 1_000);
