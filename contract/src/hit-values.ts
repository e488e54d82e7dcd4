// Values of hits and hotlists. Does not import zod, so that the console can use it, and is not in its first load.

export const hitStates = ['NEW', 'CONFIRMED', 'REJECTED', 'EXPIRED'] as const;
export const rejectionCodes = [
  'MISREAD',
  'OTHER_REGION',
  'OTHER_VEHICLE',
  'LIST_OUTDATED',
  'TEST',
  'OTHER',
] as const;
export const hitOutcomes = ['STOPPED', 'FOUND', 'PASSED_ON', 'NOT_FOUND', 'NOT_PURSUED'] as const;

export const hotlistVerifications = ['ALWAYS', 'WHEN_UNSURE', 'NEVER'] as const;
export const hotlistTolerances = ['EXACT', 'CONFUSABLE', 'ONE_OFF'] as const;
export const hotlistEncodings = ['AUTO', 'UTF-8', 'UTF-16', 'WINDOWS-1252'] as const;
export const hotlistDelimiters = [',', ';', ':', 'TAB'] as const;
export const hotlistImportModes = ['COMPLETE', 'ADD', 'REMOVE'] as const;

/** Maximum number of days of a look-back, and that of one for which none is given. */
export const MAX_LOOK_BACK_DAYS = 90;
export const USUAL_LOOK_BACK_DAYS = 30;
