import type { caseStates } from './values.ts';

// The rules of cases. Does not import zod, so that pages whose script must stay small can use it.

export type CaseState = (typeof caseStates)[number];

/** What people do with a case. `uphold` and `overrule` are the two decisions of `cases.decide`. */
export const caseMoves = [
  'addItem',
  'measure',
  'check',
  'verify',
  'reject',
  'dispute',
  'uphold',
  'overrule',
  'unlock',
  'export',
  'close',
] as const;
export type CaseMove = (typeof caseMoves)[number];

/** The state machine of cases: move × state → next state. Other combinations are refused, and of a closed case all but `export`. */
export const caseTransitions = {
  addItem: { NEW: 'NEW', CHECKED: 'CHECKED', DISPUTED: 'DISPUTED' },
  measure: { NEW: 'NEW', CHECKED: 'CHECKED', DISPUTED: 'DISPUTED' },
  check: { NEW: 'CHECKED' },
  // By another person, unless the type of violation needs one only.
  verify: { CHECKED: 'VERIFIED' },
  reject: { NEW: 'REJECTED', CHECKED: 'REJECTED' },
  // By another person.
  dispute: { CHECKED: 'DISPUTED' },
  // By a third person.
  uphold: { DISPUTED: 'VERIFIED' },
  overrule: { DISPUTED: 'REJECTED' },
  unlock: { VERIFIED: 'NEW', EXPORTED: 'NEW' },
  export: { VERIFIED: 'EXPORTED', EXPORTED: 'EXPORTED' },
  close: { VERIFIED: 'VERIFIED', EXPORTED: 'EXPORTED', REJECTED: 'REJECTED' },
} as const satisfies Record<CaseMove, Partial<Record<CaseState, CaseState>>>;

/** The state after a move; null if the state does not allow it. Courts ask for a case after it was closed, so it can still be exported. */
export function caseStateAfter(move: CaseMove, state: CaseState, isClosed: boolean): CaseState | null {
  const next: Partial<Record<CaseState, CaseState>> = caseTransitions[move];
  return isClosed && move !== 'export' ? null : (next[state] ?? null);
}
