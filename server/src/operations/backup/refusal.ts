import { hasErrno } from '@gantry/embedded-postgres/errno';
import { safeText } from '../../platform/describe-error.ts';

/** The reason why a backup, a restore or a move is not done, as one sentence that says what to do. */
export class BackupRefused extends Error {
  override readonly name = 'BackupRefused';
}

/** What each error of the file system means for a folder that is written to. */
const MEANINGS: readonly (readonly [codes: readonly string[], message: (folder: string) => string])[] = [
  [
    ['ENOSPC', 'EDQUOT'],
    (folder) => `The disk of ${folder} is full: make room, or choose another folder, and try again`,
  ],
  [
    ['EACCES', 'EPERM'],
    (folder) => `${folder} cannot be written: give it to the user that runs this, or choose another folder`,
  ],
  [
    ['EROFS'],
    (folder) =>
      `${folder} is read-only for this process: allow it in the unit of systemd (ReadWritePaths), or choose another folder`,
  ],
  [['ENOTDIR', 'EEXIST'], (folder) => `${folder} is not a folder: choose another one`],
  [['ENOENT'], (folder) => `The folder above ${folder} does not exist: create it, or choose another one`],
];

/** Runs work on a folder. Errors of the file system that its owner can correct become a {@link BackupRefused}. */
export async function explaining<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const messageOf = MEANINGS.find(([codes]) => hasErrno(error, ...codes))?.[1];
    throw messageOf ? new BackupRefused(messageOf(folder), { cause: error }) : error;
  }
}

/** Runs work on the store of images. Its errors, such as those of an S3-compatible store, become a {@link BackupRefused}. */
export async function explainingStore<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof BackupRefused) throw cause;
    throw new BackupRefused(
      `The store of images (S3_BUCKET, or images in DATA_DIR) failed (${safeText(cause)}): gantry doctor checks it. Try again when it answers; images that were copied are not copied again`,
      { cause },
    );
  }
}
