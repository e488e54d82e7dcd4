import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { Gauge, type Registry } from 'prom-client';

interface Disk {
  readonly bavail: number;
  readonly blocks: number;
  readonly bsize: number;
}

/**
 * Adds metrics of the disks that hold the data folder and the embedded database in it, which may be a link to another
 * disk. They are read at each request for the metrics. A folder that cannot be read, or does not exist, is left out.
 */
export function followDisks(registry: Registry, dataDir: string): void {
  const folders = { data: dataDir, database: join(dataDir, 'postgres') };
  const add = (name: string, help: string, bytesOf: (disk: Disk) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['folder'],
      registers: [registry],
      async collect() {
        for (const [folder, path] of Object.entries(folders)) {
          const disk = await statfs(path).catch(() => null);
          if (disk) this.set({ folder }, bytesOf(disk));
        }
      },
    });
  };
  add(
    'gantry_disk_size_bytes',
    'Size of the disk that holds the folder',
    ({ blocks, bsize }) => blocks * bsize,
  );
  add(
    'gantry_disk_free_bytes',
    'Space that is left on the disk that holds the folder',
    ({ bavail, bsize }) => bavail * bsize,
  );
}
