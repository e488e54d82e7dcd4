import type { Severity } from '@gantry/contract/events';
import type { IncidentStatus } from '@gantry/contract/incidents';
import type { SensorStatus } from '@gantry/contract/sensors';
import type { TrafficLevel } from '@gantry/contract/traffic';
import { useTranslation } from 'react-i18next';
import { Badge, type Look } from '../../ui/badge.tsx';
import type { ColorToken } from '../../ui/token-color.ts';
import { Moment } from '../time/moment.tsx';

const severityLooks: Readonly<Record<Severity, Look>> = {
  LOW: { tone: 'low', icon: 'low' },
  MEDIUM: { tone: 'medium', icon: 'medium' },
  HIGH: { tone: 'high', icon: 'high' },
  CRITICAL: { tone: 'critical', icon: 'critical' },
};

/** The badge of a severity. Also used for the priority of watched plates. */
export function SeverityBadge({
  severity,
  filled,
}: {
  readonly severity: Severity;
  readonly filled?: boolean;
}) {
  const { t } = useTranslation('common');
  return (
    <Badge {...severityLooks[severity]} filled={filled ?? severity === 'CRITICAL'}>
      {t(`severity.${severity}`)}
    </Badge>
  );
}

/** The appearance of each sensor status in lists, on the map, and in charts. The service determines the status. */
export const statusLooks: Readonly<Record<SensorStatus, Look & { readonly color: ColorToken }>> = {
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

/** The appearance of each traffic level. Free flow is the normal state. */
export const levelLooks: Readonly<Record<TrafficLevel, Look>> = {
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

/** The appearance of each incident status. Incidents that wait for somebody stand out; those taken care of do not. */
export const incidentLooks: Readonly<Record<IncidentStatus, Look>> = {
  OPEN: { tone: 'high', icon: 'alert' },
  ACKNOWLEDGED: { tone: 'medium', icon: 'acknowledge' },
  IN_PROGRESS: { tone: 'low', icon: 'maintenance' },
  RESOLVED: { tone: 'calm', icon: 'good' },
  CLOSED: { tone: 'calm', icon: 'none' },
};

export function IncidentStatusBadge({ status }: { readonly status: IncidentStatus }) {
  const { t } = useTranslation('common');
  return <Badge {...incidentLooks[status]}>{t(`incidentStatus.${status}`)}</Badge>;
}
