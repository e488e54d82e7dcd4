import type { TrafficLevel } from '@gantry/contract/traffic';
import { useTranslation } from 'react-i18next';
import { Badge, type Tone } from '../../ui/badge.tsx';
import type { IconName } from '../../ui/icon.tsx';

/** The appearance of each traffic level. Free flow is the normal state. */
export const levelLooks: Readonly<Record<TrafficLevel, { tone: Tone; icon: IconName }>> = {
  FREE: { tone: 'calm', icon: 'good' },
  BUSY: { tone: 'medium', icon: 'busy' },
  CONGESTED: { tone: 'high', icon: 'high' },
  NO_DATA: { tone: 'low', icon: 'help' },
};

interface LevelAndVolume {
  readonly level: TrafficLevel;
  /** The number of vehicles. It may be known where no speed is measured, which is a case of its own. */
  readonly volume?: number | null;
}

/** The key of the text for a traffic level, below `trafficLevel` in the common texts. */
export function levelText({ level, volume = null }: LevelAndVolume): TrafficLevel | 'noSpeeds' {
  return level === 'NO_DATA' && volume !== null ? 'noSpeeds' : level;
}

/** The current level of traffic at a location. */
export function TrafficLevelBadge({ level, volume }: LevelAndVolume) {
  const { t } = useTranslation('common');
  return <Badge {...levelLooks[level]}>{t(`trafficLevel.${levelText({ level, volume })}`)}</Badge>;
}
