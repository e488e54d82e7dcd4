import { mayDo, type Permission } from '@gantry/contract/permissions';
import { useUser } from './session.ts';

/** Whether the user's role has the permission. The service decides again at each call. */
export function useMay(permission: Permission): boolean {
  return mayDo(useUser().role, permission);
}
