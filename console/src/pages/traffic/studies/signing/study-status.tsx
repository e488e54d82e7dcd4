import type { StudyStatus } from '@gantry/contract/studies';
import { useTranslation } from 'react-i18next';
import { Badge, type Look } from '../../../../ui/badge.tsx';

const looks: Readonly<Record<StudyStatus, Look>> = {
  DRAFT: { tone: 'calm', icon: 'edit' },
  FROZEN: { tone: 'medium', icon: 'hold' },
  SIGNED: { tone: 'good', icon: 'good' },
  REJECTED: { tone: 'high', icon: 'high' },
};

/** How far a study has come, as icon and text. */
export function StudyBadge({ status }: { readonly status: StudyStatus }) {
  const { t } = useTranslation('studies');
  return <Badge {...looks[status]}>{t(`signing.statuses.${status}`)}</Badge>;
}

/** The number of digits of a hash in lists: enough to tell studies apart. */
const SHORT = 8;

/** The first digits of a hash, with all of it in the tooltip. */
export function ShortHash({ hash }: { readonly hash: string }) {
  return (
    <code dir="ltr" title={hash} className="font-mono text-sm">
      {hash.slice(0, SHORT)}
    </code>
  );
}
