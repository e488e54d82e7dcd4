import { type CaseMove, caseStateAfter } from '@gantry/contract/case-states';
import type { CaseDetail } from '@gantry/contract/cases';
import { mayDo, type Role } from '@gantry/contract/permissions';

// Which steps the state of a case allows, and why a user may not take one of them. The service decides again.

export const stepNames = [
  'check',
  'verify',
  'decide',
  'export',
  'dispute',
  'reject',
  'close',
  'unlock',
] as const;
export type StepName = (typeof stepNames)[number];

/** Why somebody may not take a step: they took the one before; only an administrator may; a check forbids it. */
export type Hindrance = 'own' | 'administrator' | 'blocked';

export interface Step {
  readonly name: StepName;
  /** null: the user may take the step. */
  readonly hindrance: Hindrance | null;
}

type Decided = Pick<CaseDetail, 'state' | 'closedAt' | 'needsSecond' | 'firstBy' | 'secondBy' | 'checks'>;

function hindranceOf(
  name: StepName,
  of: Decided,
  user: { readonly id: string; readonly role: Role },
): Hindrance | null {
  const isFirst = of.firstBy?.id === user.id;
  const isBlocked = of.checks.some(({ result, blocks }) => result === 'FAIL' && blocks);
  switch (name) {
    case 'check':
      return isBlocked ? 'blocked' : null;
    case 'verify':
      if (of.needsSecond && isFirst) return 'own';
      return isBlocked ? 'blocked' : null;
    case 'dispute':
      return isFirst ? 'own' : null;
    case 'decide':
      if (!mayDo(user.role, 'decideCases')) return 'administrator';
      return isFirst || of.secondBy?.id === user.id ? 'own' : null;
    case 'unlock':
      return mayDo(user.role, 'decideCases') ? null : 'administrator';
    default:
      return null;
  }
}

/** Whether a state allows a step. To decide is to uphold the case or to overrule it, which the same states allow. */
function isAllowed(name: StepName, { state, closedAt }: Decided): boolean {
  const move: CaseMove = name === 'decide' ? 'uphold' : name;
  return caseStateAfter(move, state, closedAt !== null) !== null;
}

/** The steps that the state of a case allows, the next one first. */
export function stepsOf(of: Decided, user: { readonly id: string; readonly role: Role }): readonly Step[] {
  return stepNames
    .filter((name) => isAllowed(name, of))
    .map((name) => ({ name, hindrance: hindranceOf(name, of, user) }));
}
