import { z } from 'zod';
import { roles } from './values.ts';

export const role = z.enum(roles);
export type Role = z.infer<typeof role>;

/**
 * The permissions of roles: the table of the specification, and further ones that it leaves open: `manageReports` (those of
 * other users), `deleteEvents`, `manageWatchlist`, `manageHotlists`, `verifyHits`, `approveWorks`, `verifyCases` and
 * `decideCases`.
 */
export const permissions = {
  viewDashboard: ['ADMIN', 'OPERATOR', 'ANALYST', 'FIELD', 'VIEWER'],
  manageSensors: ['ADMIN', 'OPERATOR'],
  viewReports: ['ADMIN', 'OPERATOR', 'ANALYST', 'VIEWER'],
  generateReports: ['ADMIN', 'OPERATOR', 'ANALYST'],
  manageReports: ['ADMIN', 'OPERATOR'],
  manageIncidents: ['ADMIN', 'OPERATOR', 'FIELD'],
  deleteEvents: ['ADMIN', 'OPERATOR'],
  manageWatchlist: ['ADMIN', 'OPERATOR'],
  manageHotlists: ['ADMIN', 'OPERATOR'],
  verifyHits: ['ADMIN', 'OPERATOR'],
  approveWorks: ['ADMIN', 'OPERATOR'],
  verifyCases: ['ADMIN', 'OPERATOR'],
  decideCases: ['ADMIN'],
  manageUsers: ['ADMIN'],
  systemSettings: ['ADMIN'],
} as const satisfies Record<string, readonly Role[]>;

export type Permission = keyof typeof permissions;

/** The names of permissions in messages and documents. */
export const permissionNames: Record<Permission, string> = {
  viewDashboard: 'View Dashboard',
  manageSensors: 'Manage Sensors',
  viewReports: 'View Reports',
  generateReports: 'Generate Reports',
  manageReports: 'Manage Reports of Others',
  manageIncidents: 'Manage Incidents',
  deleteEvents: 'Delete Events',
  manageWatchlist: 'Manage Watchlist',
  manageHotlists: 'Manage Hotlists',
  verifyHits: 'Verify Hits',
  approveWorks: 'Approve Planned Works',
  verifyCases: 'Verify Cases',
  decideCases: 'Decide Disputed Cases',
  manageUsers: 'Manage Users',
  systemSettings: 'System Settings',
};

/** Whether a user of one role has every permission of another one, and so may act in it. */
export function mayActAs(held: Role, wanted: Role): boolean {
  return (Object.keys(permissions) as Permission[]).every(
    (permission) => !mayDo(wanted, permission) || mayDo(held, permission),
  );
}

/** Whether a user of the role has the permission. */
export function mayDo(held: Role, permission: Permission): boolean {
  return (permissions[permission] as readonly Role[]).includes(held);
}
