import type { TrafficLevel } from '@gantry/contract/traffic';
import { useTranslation } from 'react-i18next';
import { Badge, type Tone } from '../ui/badge.tsx';
import type { IconName } from '../ui/icon.tsx';

const looks: Readonly<Record<TrafficLevel, { tone: Tone; icon: IconName }>> = {
  FREE: { tone: 'calm', icon: 'good' },
  BUSY: { tone: 'medium', icon: 'medium' },
  CONGESTED: { tone: 'critical', icon: 'critical' },
  NO_DATA: { tone: 'low', icon: 'offline' },
};

/** The most congested first, and locations without data last. */
export const levelOrder: readonly TrafficLevel[] = ['CONGESTED', 'BUSY', 'FREE', 'NO_DATA'];

interface LevelBadgeProps {
  readonly level: TrafficLevel;
  /** The number of vehicles. It may be known where no speed is measured, which the badge shows as a case of its own. */
  readonly volume: number | null;
}

/** The current level of traffic at a location. */
export function LevelBadge({ level, volume }: LevelBadgeProps) {
  const { t } = useTranslation('traffic');
  const isCounted = level === 'NO_DATA' && volume !== null;
  return <Badge {...looks[level]}>{isCounted ? t('levels.noSpeeds') : t(`levels.${level}`)}</Badge>;
}
