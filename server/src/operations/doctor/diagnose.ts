import type { DoctorReport, Finding } from '@gantry/contract/doctor';
import type { Config } from '../../platform/config.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import {
  checkAccounts,
  checkBackups,
  checkConnectionsOfDevices,
  checkImages,
  checkPictures,
  checkSpool,
  checkWork,
} from './data.ts';
import { checkDatabase } from './database.ts';
import { fine, reportOf } from './findings.ts';
import { checkFolder, checkSettings } from './machine.ts';

/** What can be said about this installation without its database. */
export async function checkMachine(config: Config): Promise<Finding[]> {
  return [
    fine('nodeVersion', { version: process.versions.node }),
    ...checkSettings(config),
    ...(await checkFolder(config)),
    ...(await checkSpool(config)),
    ...(await checkPictures(config)),
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
    ...(await checkBackups(db, config)),
    ...(await checkConnectionsOfDevices(db)),
    ...(await checkAccounts(db, config)),
  ];
}

/** What is wrong with this installation, with remedies. */
export async function check(db: Executor, config: Config): Promise<DoctorReport> {
  return reportOf([...(await checkMachine(config)), ...(await checkData(db, config))]);
}
