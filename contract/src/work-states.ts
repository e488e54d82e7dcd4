// The rules of planned works. Does not import zod, so that pages whose script must stay small can use it.

/** What they are: work on the road, an event beside it, a closure, or maintenance of sensors. */
export const worksKinds = ['ROADWORKS', 'CLOSURE', 'EVENT', 'MAINTENANCE'] as const;
export type WorksKind = (typeof worksKinds)[number];

/** In the order in which works go through them. */
export const worksStates = ['DRAFT', 'APPROVED', 'ACTIVE', 'ENDED', 'CANCELLED'] as const;
export type WorksState = (typeof worksStates)[number];

/** From what it is computed where works are drawn on a map. */
export const worksMapBases = ['GEOMETRY', 'KILOMETRES', 'LOCATION', 'NEAREST', 'SENSORS'] as const;
export type WorksMapBasis = (typeof worksMapBases)[number];

/** What people do with works, and the turns that the service takes by the clock. */
export const worksActions = [
  'create',
  'propose',
  'describe',
  'prolong',
  'approve',
  'cancel',
  'begin',
  'pause',
  'miss',
  'end',
] as const;
export type WorksAction = (typeof worksActions)[number];

/** The state machine of planned works: action × state → next state. Other combinations are refused. */
export const worksTransitions = {
  create: {},
  // A change of what is approved: it has to be approved again.
  propose: { DRAFT: 'DRAFT', APPROVED: 'DRAFT' },
  // Title, description and contact.
  describe: { DRAFT: 'DRAFT', APPROVED: 'APPROVED', ACTIVE: 'ACTIVE' },
  // Another end while they are in force.
  prolong: { ACTIVE: 'ACTIVE' },
  approve: { DRAFT: 'APPROVED' },
  cancel: { DRAFT: 'CANCELLED', APPROVED: 'CANCELLED', ACTIVE: 'CANCELLED' },
  begin: { APPROVED: 'ACTIVE' },
  // A window ended, and others follow.
  pause: { ACTIVE: 'APPROVED' },
  // Windows passed while no process ran, and others follow.
  miss: { APPROVED: 'APPROVED' },
  end: { ACTIVE: 'ENDED', APPROVED: 'ENDED' },
} as const satisfies Record<WorksAction, Partial<Record<WorksState, WorksState>>>;

/** The state after an action; null if the state does not allow it. */
export function worksStateAfter(action: WorksAction, state: WorksState): WorksState | null {
  const next: Partial<Record<WorksState, WorksState>> = worksTransitions[action];
  return next[state] ?? null;
}

/** What became of a window. MISSED: it passed while no process of the service ran. */
export const windowStates = ['PLANNED', 'ACTIVE', 'ENDED', 'MISSED', 'CANCELLED'] as const;
export type WindowState = (typeof windowStates)[number];
