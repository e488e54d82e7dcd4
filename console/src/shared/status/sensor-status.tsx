import type { SensorStatus } from '@gantry/contract/sensors';
import { useTranslation } from 'react-i18next';
import { Badge, type Tone } from '../../ui/badge.tsx';
import type { IconName } from '../../ui/icon.tsx';
import type { ColorToken } from '../../ui/theme.ts';
import { Moment } from '../time/moment.tsx';

/** The appearance of each sensor status in lists, on the map, and in charts. The service determines the status. */
export const statusLooks: Readonly<Record<SensorStatus, { tone: Tone; icon: IconName; color: ColorToken }>> =
  {
    ONLINE: { tone: 'calm', icon: 'good', color: 'muted' },
    OFFLINE: { tone: 'high', icon: 'offline', color: 'high' },
    MAINTENANCE: { tone: 'low', icon: 'maintenance', color: 'low' },
    ERROR: { tone: 'critical', icon: 'failure', color: 'critical' },
  };

interface SensorStatusBadgeProps {
  readonly status: SensorStatus;
  /** If given, the badge of a sensor that is not online shows how long ago the sensor last reported. */
  readonly lastHeartbeat?: Date | null;
}

export function SensorStatusBadge({ status, lastHeartbeat }: SensorStatusBadgeProps) {
  const { t } = useTranslation('common');
  const { tone, icon } = statusLooks[status];
  return (
    <Badge tone={tone} icon={icon}>
      {t(`sensorStatus.${status}`)}
      {status !== 'ONLINE' && lastHeartbeat && (
        <span className="text-muted">
          <Moment at={lastHeartbeat} as="ago" />
        </span>
      )}
    </Badge>
  );
}
