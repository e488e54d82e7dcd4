import type { Review, ReviewDecision } from '@gantry/contract/reviews';
import { useTranslation } from 'react-i18next';
import { Moment } from '../../../shared/time/moment.tsx';
import { Badge, type Look } from '../../../ui/badge.tsx';
import type { ReviewedEvent } from './row-states.ts';

/** The tone and icon of each decision. Only a decision that still requires work is highlighted. */
export const decisionLooks: Readonly<Record<ReviewDecision, Look>> = {
  CONFIRMED: { tone: 'calm', icon: 'acknowledge' },
  REJECTED: { tone: 'calm', icon: 'close' },
  SECOND_LOOK: { tone: 'medium', icon: 'reveal' },
};

/** The latest review of an event: the decision, who made it, when and why. */
export function ReviewMark({ event }: { readonly event: ReviewedEvent }) {
  const { t } = useTranslation('events');
  const { review, processed, archived } = event;
  if (review) return <Decided review={review} isArchived={archived && review.decision !== 'REJECTED'} />;
  if (!processed && !archived) return null;
  return (
    <Badge tone="calm" icon="acknowledge">
      {archived ? t('state.archived') : t('state.processed')}
    </Badge>
  );
}

function Decided({ review, isArchived }: { readonly review: Review; readonly isArchived: boolean }) {
  const { t } = useTranslation('events');
  const { decision, by, at, reason } = review;
  const { tone, icon } = decisionLooks[decision];
  return (
    <span className="flex items-center gap-1.5" title={[by.name, reason].filter(Boolean).join(' · ')}>
      <Badge tone={tone} icon={icon}>
        {t(`decisions.${decision}`)}
      </Badge>
      <span className="one-line text-sm text-muted">
        {isArchived && `${t('state.archived')} · `}
        <Moment at={at} as="ago" /> · <bdi>{by.name}</bdi>
        {reason !== null && (
          <>
            {' · '}
            <bdi>{reason}</bdi>
          </>
        )}
      </span>
    </span>
  );
}
