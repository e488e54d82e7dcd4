/** What the activity log holds, by noun. */
export const actions = {
  auth: ['login', 'logout', 'loginFailed', 'passwordChanged', 'sessionRevoked'],
  users: ['create', 'update', 'delete', 'updateRole', 'resetPassword', 'resetSecondFactor', 'linkIdentity'],
  sensors: ['create', 'update', 'delete', 'rotateKey', 'revealKey'],
  connections: ['create', 'update', 'rotate', 'delete', 'replay', 'register'],
  locations: ['create', 'update', 'delete'],
  events: [
    'markAsProcessed',
    'markAsArchived',
    'undoArchive',
    'review',
    'undoReview',
    'delete',
    'lookUpPlate',
  ],
  incidents: [
    'create',
    'update',
    'acknowledge',
    'assign',
    'start',
    'resolve',
    'reopen',
    'close',
    'addNote',
    'attachEvent',
  ],
  watchlist: ['create', 'update', 'delete', 'acknowledgeAlert', 'undoAcknowledgeAlert'],
  views: ['create', 'update', 'delete', 'setDefault'],
  webhooks: ['create', 'update', 'delete', 'test', 'redeliver'],
  reports: ['generate', 'download', 'cancel', 'delete', 'createSchedule', 'updateSchedule', 'deleteSchedule'],
  storage: ['setRetention', 'runRetention', 'setHold', 'releaseHold'],
  images: ['view'],
  system: ['updateTimezoneSettings'],
} as const;

export type Noun = keyof typeof actions;
export const nouns = Object.keys(actions) as readonly Noun[];
