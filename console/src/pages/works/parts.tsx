import type { WindowState, WorksState } from '@gantry/contract/work-states';
import { useTranslation } from 'react-i18next';
import { Badge, type Look } from '../../ui/badge.tsx';

const looks: Readonly<Record<WorksState | WindowState, Look>> = {
  DRAFT: { tone: 'medium', icon: 'edit' },
  APPROVED: { tone: 'calm', icon: 'time' },
  PLANNED: { tone: 'calm', icon: 'time' },
  ACTIVE: { tone: 'high', icon: 'busy' },
  ENDED: { tone: 'calm', icon: 'good' },
  MISSED: { tone: 'medium', icon: 'failure' },
  CANCELLED: { tone: 'calm', icon: 'none' },
};

/** The state of works. */
export function WorksStateBadge({ state }: { readonly state: WorksState }) {
  const { t } = useTranslation('works');
  return <Badge {...looks[state]}>{t(`states.${state}`)}</Badge>;
}

/** The state of a window. */
export function WindowBadge({ state }: { readonly state: WindowState }) {
  const { t } = useTranslation('works');
  return <Badge {...looks[state]}>{t(`windows.${state}`)}</Badge>;
}
