import type { Permission } from '@gantry/contract/permissions';
import type { IconName } from '../../ui/icon.tsx';

/** A part of the administration, and the permission that it requires. */
interface Part {
  readonly to: string;
  readonly name:
    | 'users'
    | 'roles'
    | 'activity'
    | 'webhooks'
    | 'storage'
    | 'holds'
    | 'backups'
    | 'settings'
    | 'system'
    | 'doctor';
  readonly icon: IconName;
  readonly permission: Permission;
}

export const parts: readonly Part[] = [
  { to: '/administration/users', name: 'users', icon: 'users', permission: 'manageUsers' },
  { to: '/administration/roles', name: 'roles', icon: 'key', permission: 'manageUsers' },
  { to: '/administration/activity', name: 'activity', icon: 'activity', permission: 'manageUsers' },
  { to: '/administration/webhooks', name: 'webhooks', icon: 'link', permission: 'systemSettings' },
  { to: '/administration/storage', name: 'storage', icon: 'storage', permission: 'systemSettings' },
  { to: '/administration/holds', name: 'holds', icon: 'hold', permission: 'systemSettings' },
  { to: '/administration/backups', name: 'backups', icon: 'backup', permission: 'systemSettings' },
  { to: '/administration/settings', name: 'settings', icon: 'time', permission: 'systemSettings' },
  { to: '/administration/system', name: 'system', icon: 'good', permission: 'systemSettings' },
  { to: '/administration/doctor', name: 'doctor', icon: 'doctor', permission: 'systemSettings' },
];
