import type { DoctorReport, Finding } from '@gantry/contract/doctor';
import type { Config } from '../platform/config.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { examineDatabase } from './database.ts';
import { fine, reportOf } from './findings.ts';
import { examineFolder } from './folder.ts';
import { examineSettings } from './settings.ts';
import { examineWork } from './work.ts';

/** What can be said about this installation without its database. */
export async function examineMachine(config: Config): Promise<Finding[]> {
  return [
    fine('node', `Node.js ${process.versions.node} runs Gantry.`),
    ...examineSettings(config),
    ...(await examineFolder(config)),
  ];
}

/** What can be said about the database: its server, and the data unless the schema is that of another version. */
export async function examineData(db: Executor, config: Config): Promise<Finding[]> {
  const found = await examineDatabase(db, config);
  const isCurrent = found.some(({ about, level }) => about === 'schema' && level === 'OK');
  return isCurrent ? [...found, ...(await examineWork(db))] : found;
}

/** What is wrong with this installation, with remedies. */
export async function examine(db: Executor, config: Config): Promise<DoctorReport> {
  return reportOf([...(await examineMachine(config)), ...(await examineData(db, config))]);
}
