import type { TrafficLevel } from '@gantry/contract/traffic';
import { useTranslation } from 'react-i18next';
import { Badge, type Tone } from '../ui/badge.tsx';
import type { IconName } from '../ui/icon.tsx';

/** The appearance of each traffic level. Free flow is the normal state. */
export const levelLooks: Readonly<Record<TrafficLevel, { tone: Tone; icon: IconName }>> = {
  FREE: { tone: 'calm', icon: 'good' },
  BUSY: { tone: 'medium', icon: 'medium' },
  CONGESTED: { tone: 'high', icon: 'high' },
  NO_DATA: { tone: 'low', icon: 'help' },
};

export function TrafficLevelBadge({ level }: { readonly level: TrafficLevel }) {
  const { t } = useTranslation('locations');
  return <Badge {...levelLooks[level]}>{t(`levels.${level}`)}</Badge>;
}
