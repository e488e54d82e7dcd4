import type { DoctorReport, Finding } from '@gantry/contract/doctor';
import type { Config } from '../../platform/config.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import {
  examineAccounts,
  examineBackups,
  examineConnectionsOfDevices,
  examineImages,
  examinePictures,
  examineSpool,
  examineWork,
} from './data.ts';
import { examineDatabase } from './database.ts';
import { fine, reportOf } from './findings.ts';
import { examineFolder, examineSettings } from './machine.ts';

/** What can be said about this installation without its database. */
export async function examineMachine(config: Config): Promise<Finding[]> {
  return [
    fine('nodeVersion', { version: process.versions.node }),
    ...examineSettings(config),
    ...(await examineFolder(config)),
    ...(await examineSpool(config)),
    ...(await examinePictures(config)),
  ];
}

/** What can be said about the database: its server, and the data unless the schema is that of another version. */
export async function examineData(db: Executor, config: Config): Promise<Finding[]> {
  const found = await examineDatabase(db, config);
  if (!found.some(({ code }) => code === 'schemaFine')) return found;
  return [
    ...found,
    ...(await examineWork(db)),
    ...(await examineImages(db)),
    ...(await examineBackups(db, config)),
    ...(await examineConnectionsOfDevices(db)),
    ...(await examineAccounts(db, config)),
  ];
}

/** What is wrong with this installation, with remedies. */
export async function examine(db: Executor, config: Config): Promise<DoctorReport> {
  return reportOf([...(await examineMachine(config)), ...(await examineData(db, config))]);
}
