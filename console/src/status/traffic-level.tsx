import type { TrafficLevel } from '@gantry/contract/traffic';
import { useTranslation } from 'react-i18next';
import { Badge, type Tone } from '../ui/badge.tsx';
import type { IconName } from '../ui/icon.tsx';

/** How the traffic at a location looks everywhere. Free flow is what is normal. */
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
