import type { Finding } from '@gantry/contract/doctor';
import type { Config } from '../../platform/config.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { advice, fine, problem } from './findings.ts';
import { readAccountState } from './store.ts';

/** API tokens that expire within so many days are named. */
const SOON_DAYS = 14;

/** Administrators, their second factors, and API tokens of programs. The schema must be that of this version. */
export async function examineAccounts(db: Executor, { NODE_ENV }: Config): Promise<Finding[]> {
  const { administrators, without, expiring } = await readAccountState(db, SOON_DAYS);
  const found = [administrators > 0 ? fine('accountsFine', { administrators }) : problem('noAdministrator')];
  if (without > 0 && NODE_ENV === 'production') {
    found.push(advice('withoutSecondFactor', { without, administrators }));
  }
  if (expiring.length > 0) found.push(advice('tokensExpire', { days: SOON_DAYS, names: expiring }));
  return found;
}
