import { useTranslation } from 'react-i18next';
import { useWhen } from '../../../shared/conflict/faster.tsx';
import type { PresentState } from './row-states.ts';

/** Describes who changed an event first, from its current state, in the user's language and time zone. */
export function useFasterDecision(): (present: PresentState) => string {
  const { t } = useTranslation('events');
  const when = useWhen();
  const words = (who: string, at: Date) => ({ who: `\u2068${who}\u2069`, when: when(at) });
  return ({ review, processedBy, processedAt }) => {
    if (review) return t(`conflict.${review.decision}`, words(review.by.name, review.at));
    if (processedBy && processedAt) return t('conflict.processed', words(processedBy.name, processedAt));
    return t('conflict.changed');
  };
}
