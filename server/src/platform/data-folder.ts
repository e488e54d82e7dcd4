import type { Application } from '@gantry/embedded-postgres/application';
import { DataFolder } from '@gantry/embedded-postgres/data-folder';

/** What the embedded database knows of Gantry. */
export const GANTRY: Application = {
  name: 'Gantry',
  database: 'gantry',
  folderSetting: 'DATA_DIR',
  serverSetting: 'DATABASE_URL',
  serverVersions: '15 to 18',
  sharedFolder: '/var/lib/gantry-postgresql',
  // That of version 0.1, and since then the data folder of the Debian package.
  formerSharedFolder: '/var/lib/gantry',
};

/** The data folder of an installation (`DATA_DIR`), or another folder that one process at a time may use. */
export function dataFolderAt(path: string): DataFolder {
  return new DataFolder(path, GANTRY);
}
