import { mayDo, type Permission } from '@gantry/contract/permissions';
import { useUser } from './session.ts';

/** Whether the user's role has the permission. The service checks it again on each request. */
export function useMay(permission: Permission): boolean {
  return mayDo(useUser().role, permission);
}
