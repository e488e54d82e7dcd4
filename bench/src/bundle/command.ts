import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { pack } from './pack.ts';

async function run({ out }: { readonly out: string }): Promise<void> {
  const path = resolve(out);
  await pack(path);
  process.stdout.write(`${path}: ${(statSync(path).size / 2 ** 20).toFixed(1)} MiB\n`);
}

export const bundleCommand = new Command('bundle')
  .description(
    'Packs ingest, query and soak for a machine like this one without network, Node.js or PostgreSQL.',
  )
  .option('--out <path>', 'the archive', 'gantry-bench.tar.gz')
  .action(run);
