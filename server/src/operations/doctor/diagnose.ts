import { access, constants, realpath, stat, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { DoctorReport, Finding } from '@gantry/contract/doctor';
import { hasErrno, ignoreErrno } from '@gantry/embedded-postgres/errno';
import { KEY_FILE } from '../../evidence/seals.ts';
import type { Config } from '../../platform/config.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { mailServerFailure, mailSettings } from '../../platform/mail.ts';
import {
  checkAccounts,
  checkAlarms,
  checkBackups,
  checkConnectionsOfDevices,
  checkDatabase,
  checkImageStore,
  checkImages,
  checkSealed,
  checkSpool,
  checkWork,
} from './database.ts';
import { advice, fine, problem, reportOf } from './findings.ts';

/** The free space, as a share of the disk and in bytes, below which the disk counts as full, or as filling. */
const FULL = { share: 0.05, bytes: 1e9 };
const FILLING = { share: 0.15, bytes: 5e9 };

/** The data folder: its rights, the space on its disk, and secrets that no longer have to be there. */
async function checkFolder(config: Config): Promise<Finding[]> {
  const { DATA_DIR: folder } = config;
  if (await isMissing(folder)) return [(config.DATABASE_URL ? fine : advice)('noDataFolder', { folder })];
  const found = await ignoreErrno(stat(folder), 'EACCES');
  const isWritable = await access(folder, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!found || !isWritable) return [problem('folderNotWritable', { folder })];
  return [...checkRights(folder, found.mode), ...(await checkSecrets(config)), ...(await checkSpace(config))];
}

function isMissing(path: string): Promise<boolean> {
  return access(path).then(
    () => false,
    (error: unknown) => hasErrno(error, 'ENOENT'),
  );
}

function checkRights(folder: string, mode: number): Finding[] {
  if ((mode & 0o022) === 0) return [];
  return [problem('folderWritableByOthers', { folder, mode: (mode & 0o777).toString(8) })];
}

async function checkSecrets({ DATA_DIR, NODE_ENV }: Config): Promise<Finding[]> {
  const found: Finding[] = [];
  const file = join(DATA_DIR, 'initial-admin-password');
  if (await ignoreErrno(stat(file), 'ENOENT')) {
    found.push((NODE_ENV === 'production' ? problem : advice)('initialPassword', { file }));
  }
  const files: string[] = [];
  const secrets = [
    join(DATA_DIR, 'jwt-secret'),
    join(DATA_DIR, KEY_FILE),
    join(DATA_DIR, 'database-password'),
    file,
    resolve('.env'),
  ];
  for (const path of secrets) {
    const secret = await ignoreErrno(stat(path), 'ENOENT', 'EACCES');
    if (secret && (secret.mode & 0o004) !== 0) files.push(path);
  }
  if (files.length > 0) found.push(problem('readableSecrets', { files }));
  return found;
}

async function checkSpace({ DATA_DIR, BACKUP_DIR }: Config): Promise<Finding[]> {
  // The database may lie elsewhere, behind a link.
  const database = await ignoreErrno(realpath(join(DATA_DIR, 'postgres')), 'ENOENT', 'EACCES');
  const folders = new Map<number, string>();
  for (const folder of [DATA_DIR, database, BACKUP_DIR]) {
    if (folder === undefined) continue;
    const { dev } = (await ignoreErrno(stat(folder), 'EACCES', 'ENOENT')) ?? { dev: -1 };
    if (dev !== -1 && !folders.has(dev)) folders.set(dev, folder);
  }
  return Promise.all([...folders.values()].map(checkDisk));
}

async function checkDisk(folder: string): Promise<Finding> {
  const { bsize, blocks, bavail } = await statfs(folder);
  const free = bsize * bavail;
  const share = blocks === 0 ? 1 : bavail / blocks;
  const isBelow = (limit: typeof FULL): boolean => free < limit.bytes || share < limit.share;
  const say = isBelow(FULL) ? problem : isBelow(FILLING) ? advice : fine;
  return say('diskSpace', {
    gigabytes: Math.round(free / 1e8) / 10,
    percent: Math.floor(share * 100),
    folder,
  });
}

const LOOPBACK = /^(localhost|127\.|::1$)/;

/** What is wrong with the settings, above all for production. */
function checkSettings(config: Config): Finding[] {
  const { HOST: host, NODE_ENV: mode, JWT_SECRET, PREVIEW_ORIGINS, WEB_ORIGIN } = config;
  const isProduction = mode === 'production';
  const isReachable = !LOOPBACK.test(host);
  const found: Finding[] = [];
  const say = (isSo: boolean, finding: Finding): void => {
    if (isSo) found.push(finding);
  };
  say(config.ALLOW_UNSAFE_DATABASE, problem('unsafeDatabase'));
  say(config.PUBLIC_SENSOR_KEYS, (isProduction ? problem : advice)('publicSensorKeys'));
  say(config.PUBLIC_SENSORS && isProduction, advice('publicSensors'));
  say(isReachable && !isProduction, advice('notProduction', { host, mode }));
  say(isReachable && config.TRUSTED_PROXIES.length === 0, advice('noProxy', { host }));
  say(
    isProduction && PREVIEW_ORIGINS.length > 0,
    advice('previewOrigins', { origins: PREVIEW_ORIGINS.map(String) }),
  );
  say(
    isProduction && WEB_ORIGIN?.startsWith('http://') === true,
    advice('webOriginWithoutTls', { origin: WEB_ORIGIN ?? '' }),
  );
  say(config.SMTP_URL !== undefined && config.PUBLIC_URL === undefined, advice('publicUrlMissing'));
  say(config.ADMIN_PASSWORD !== undefined, advice('adminPasswordSet'));
  say(JWT_SECRET !== undefined && new Set(JWT_SECRET).size < 10, problem('weakJwtSecret'));
  return found.length > 0 ? found : [fine('settingsFine')];
}

/** Whether the mail server, if there is one, can be reached and accepts the login. */
async function checkMail(config: Config): Promise<Finding[]> {
  if (config.SMTP_URL === undefined) return [];
  const reason = await mailSettings(config).then(mailServerFailure, messageOf);
  return [reason === null ? fine('mailFine') : problem('mailServer', { reason })];
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What can be said about this installation without its database. */
export async function checkMachine(config: Config): Promise<Finding[]> {
  return [
    fine('nodeVersion', { version: process.versions.node }),
    ...checkSettings(config),
    ...(await checkMail(config)),
    ...(await checkFolder(config)),
    ...(await checkSpool(config)),
    ...(await checkImageStore(config)),
  ];
}

/** What can be said about the database: its server, and the data unless the schema is that of another version. */
export async function checkData(db: Executor, config: Config): Promise<Finding[]> {
  const found = await checkDatabase(db, config);
  if (!found.some(({ code }) => code === 'schemaFine')) return found;
  return [
    ...found,
    ...(await checkWork(db)),
    ...(await checkImages(db)),
    ...(await checkSealed(db, config)),
    ...(await checkBackups(db, config)),
    ...(await checkAlarms(db)),
    ...(await checkConnectionsOfDevices(db)),
    ...(await checkAccounts(db, config)),
  ];
}

/** What is wrong with this installation, with remedies. */
export async function check(db: Executor, config: Config): Promise<DoctorReport> {
  return reportOf([...(await checkMachine(config)), ...(await checkData(db, config))]);
}
