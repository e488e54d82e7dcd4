import type { CaseState } from '@gantry/contract/case-states';
import type { CaseItem, CaseSummary, CheckResult } from '@gantry/contract/cases';
import { eventTypes } from '@gantry/contract/values';
import { useTranslation } from 'react-i18next';
import { useCodeNames } from '../../shared/events/codes.ts';
import { Badge, type Look } from '../../ui/badge.tsx';

const stateLooks: Readonly<Record<CaseState, Look>> = {
  NEW: { tone: 'medium', icon: 'time' },
  CHECKED: { tone: 'medium', icon: 'users' },
  DISPUTED: { tone: 'high', icon: 'high' },
  VERIFIED: { tone: 'good', icon: 'good' },
  EXPORTED: { tone: 'calm', icon: 'send' },
  REJECTED: { tone: 'calm', icon: 'none' },
};

/** The state of a case. */
export function CaseStateBadge({ state }: { readonly state: CaseState }) {
  const { t } = useTranslation('cases');
  return <Badge {...stateLooks[state]}>{t(`states.${state}`)}</Badge>;
}

const resultLooks: Readonly<Record<CheckResult, Look>> = {
  PASS: { tone: 'good', icon: 'good' },
  FAIL: { tone: 'critical', icon: 'failure' },
  UNKNOWN: { tone: 'medium', icon: 'help' },
};

/** The result of a check. */
export function ResultBadge({ result }: { readonly result: CheckResult }) {
  const { t } = useTranslation('cases');
  return <Badge {...resultLooks[result]}>{t(`results.${result}`)}</Badge>;
}

/**
 * Returns a function for what a case is about: the violation, or the type of an event without one, in the language of the
 * user, or the title.
 */
export function useSubject(): (of: Pick<CaseSummary, 'violationType' | 'title'>) => string {
  const { t } = useTranslation('events');
  const names = useCodeNames();
  return ({ violationType, title }) => {
    if (violationType !== null) return names.violation(violationType);
    const type = eventTypes.find((code) => title === code || title.startsWith(`${code}, `));
    return type === undefined ? title : t(`types.${type}`);
  };
}

/** An image of a case that the user may see. */
export type ImageItem = CaseItem & { readonly url: string; readonly sha256: string };

/** The images among the items of a case that the user may see, in the order in which they are compared: originals first. */
export function imagesOf(items: readonly CaseItem[]): readonly ImageItem[] {
  const ranks = ['FIRST', 'SECOND', 'PLATE', 'OVERVIEW', 'CONTEXT', 'RAW_MESSAGE'];
  return items
    .filter(
      (item): item is ImageItem =>
        item.contentType?.startsWith('image/') === true && Boolean(item.url) && item.sha256 !== null,
    )
    .filter(({ role }) => ranks.includes(role))
    .sort(
      (one, other) =>
        Number(one.derivedFrom !== null) - Number(other.derivedFrom !== null) ||
        ranks.indexOf(one.role) - ranks.indexOf(other.role),
    );
}
