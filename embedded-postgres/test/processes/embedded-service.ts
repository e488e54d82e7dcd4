import { startEmbeddedDatabase } from '../../src/embedded.ts';

// A process that runs only the embedded database, in the folder that its argument names, until it is killed.

const database = await startEmbeddedDatabase({
  dataDir: process.argv[2] ?? '',
  log: (line) => process.stderr.write(`${line}\n`),
});
process.stdout.write(database.connectionString);
setInterval(() => undefined, 1_000);
