import { createGantryClient, type GantryClient, GantryError } from '@gantry/client';
import { mayDo, type Permission, type Role } from '@gantry/contract/permissions';
import { isTemporary } from '../retry.ts';
import type { DemoLogin } from './users.ts';

/** A member of the control room who is logged in. */
export interface Colleague {
  readonly id: string;
  readonly client: GantryClient;
  /** Replaces an invalid token with a new one. */
  logInAgain(): Promise<unknown>;
}

/** The role of a member of the control room. */
export type Part = 'operator' | 'field';

/** The members of the control room. */
export interface Staff extends Readonly<Record<Part, Colleague>> {
  leave(): Promise<void>;
}

/** The permission that each role needs. */
const NEEDS: Readonly<Record<Part, Permission>> = { operator: 'manageWatchlist', field: 'manageIncidents' };

/**
 * Logs in the sample users of the control room, so that their actions carry their names. Users who cannot log in any
 * more, or lack the permission, are replaced by `standIn`.
 * @throws GantryError when the service cannot answer at the moment
 */
export async function gatherStaff(
  url: string,
  logins: readonly DemoLogin[],
  standIn: Colleague,
): Promise<Staff> {
  const find = async (part: Part, role: Role): Promise<Colleague> => {
    const login = logins.find((one) => one.role === role);
    return (login && (await logInAs(url, login, NEEDS[part]))) ?? standIn;
  };
  const [operator, field] = await Promise.all([find('operator', 'OPERATOR'), find('field', 'FIELD')]);
  return {
    operator,
    field,
    async leave() {
      await Promise.all([...new Set([operator, field, standIn])].map(logOut));
    },
  };
}

async function logInAs(url: string, { email, password }: DemoLogin, needs: Permission) {
  const client = createGantryClient(url);
  const logInAgain = () => client.login(email, password);
  try {
    const { id, role } = await logInAgain();
    return mayDo(role, needs) ? { id, client, logInAgain } : null;
  } catch (error) {
    if (error instanceof GantryError && !isTemporary(error)) return null;
    throw error;
  }
}

function logOut({ client }: Colleague): Promise<void> {
  return client.logout().catch((error: unknown) => {
    // The service may have stopped; its tokens expire by themselves.
    if (!(error instanceof GantryError)) throw error;
  });
}
