import type { Outage } from '@gantry/contract/quality';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { CardFrame } from '../../../../shared/chart/card-frame.tsx';
import { useZoneOfDays } from '../../../../shared/chart/use-zone-note.ts';
import type { DayRange } from '../../../../shared/range/days.ts';
import { Failure } from '../../../../shared/service/failure.tsx';
import { service } from '../../../../shared/service/service.ts';
import { useServiceTime } from '../../../../shared/time/use-time.ts';
import { Badge } from '../../../../ui/badge.tsx';
import { ScrolledTable } from '../../../../ui/scrolled-table.tsx';
import { Skeleton } from '../../../../ui/skeleton.tsx';
import type { Place } from '../../comparison.ts';
import { usePlaceName } from '../../place.tsx';
import { useReasonText } from '../reasons.tsx';
import { useOutageTable } from './tables.ts';

/** The most outages that are listed at once. */
const TAKE = 100;
const MINUTE_MS = 60_000;

interface OutagesCardProps {
  /** null: the sensors of all places that do not work now. */
  readonly place: Place | null;
  readonly days: DayRange;
}

/** The times of which nothing is known, with the volume that was probably missed. */
export function OutagesCard({ place, days }: OutagesCardProps) {
  const { t } = useTranslation('studies');
  const name = usePlaceName(place);
  const query = useQuery({
    ...service.traffic.getOutages.queryOptions({ ...(place && { ...place, ...days }), take: TAKE }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  const outages = query.data?.outages ?? [];
  const zone = useZoneOfDays(days);
  const table = useOutageTable(outages);
  const title = t(place ? 'quality.outages' : 'quality.notWorking');
  if (query.error) return <Failure error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton rows={4} />;
  return (
    <CardFrame
      {...{ title, table, zone }}
      subject={name || t('quality.network')}
      n={t('quality.nOutages', { count: query.data.total })}
    >
      {outages.length === 0 ? (
        <p className="text-muted">{t(place ? 'quality.noOutage' : 'quality.allWork')}</p>
      ) : (
        <OutageTable label={title} outages={outages} isOfNetwork={place === null} />
      )}
      {query.data.total > outages.length && (
        <p className="text-sm text-muted">{t('quality.firstOf', { count: outages.length })}</p>
      )}
      <p className="text-sm text-muted">{t('quality.missedText')}</p>
    </CardFrame>
  );
}

interface OutageTableProps {
  readonly label: string;
  readonly outages: readonly Outage[];
  readonly isOfNetwork: boolean;
}

function OutageTable({ label, outages, isOfNetwork }: OutageTableProps) {
  const { t } = useTranslation('studies');
  const time = useServiceTime();
  const at = (moment: Date) => (
    <bdi dir="ltr" className="figures whitespace-nowrap">
      {time.date(moment)} {time.minute(moment)}
    </bdi>
  );
  return (
    <ScrolledTable
      label={label}
      className="max-h-96"
      head="bg-surface"
      columns={[
        {
          header: t('quality.sensor'),
          className: 'border-b',
          cell: ({ sensorId, sensorName, locationId, locationName }: Outage) => (
            <>
              <Link
                to="/traffic/quality"
                search={locationId && isOfNetwork ? { locationId } : { sensorId }}
                className="hover:underline"
              >
                <bdi>{sensorName ?? sensorId}</bdi>
              </Link>
              {isOfNetwork && locationName && (
                <span className="block text-sm text-muted">
                  <bdi>{locationName}</bdi>
                </span>
              )}
            </>
          ),
        },
        {
          header: t('signing.kind'),
          className: 'border-b',
          cell: ({ kind }) => (
            <Badge
              tone={kind === 'REJECTED' ? 'high' : 'medium'}
              icon={kind === 'NO_DATA' ? 'offline' : 'none'}
            >
              {t(`quality.outageKinds.${kind}`)}
            </Badge>
          ),
        },
        {
          header: t(isOfNetwork ? 'quality.notSince' : 'quality.from'),
          className: 'border-b',
          cell: ({ from }) => at(from),
        },
        !isOfNetwork && {
          header: t('quality.until'),
          className: 'border-b',
          cell: ({ until }) => (until ? at(until) : t('quality.lasts')),
        },
        {
          header: t('quality.duration'),
          className: 'border-b',
          isFigure: true,
          cell: ({ minutes }) => time.duration(minutes * MINUTE_MS),
        },
        {
          header: t('quality.lastData'),
          className: 'border-b',
          cell: ({ lastData }) => (lastData ? at(lastData) : '–'),
        },
        {
          header: t('quality.missed'),
          className: 'border-b',
          isFigure: true,
          cell: ({ expectedVolume }) => <Missed of={expectedVolume} />,
        },
      ]}
      rows={outages}
      keyOf={({ sensorId, kind, from }) => `${sensorId} ${kind} ${from.toISOString()}`}
    />
  );
}

function Missed({ of: { value, n, reason } }: { readonly of: Outage['expectedVolume'] }) {
  const { t, i18n } = useTranslation('studies');
  const reasonText = useReasonText();
  if (value === null)
    return (
      <span title={reason === null ? undefined : reasonText(reason)} className="text-muted">
        {t('quality.notKnown')}
      </span>
    );
  return (
    <>
      ≈ {new Intl.NumberFormat(i18n.language).format(value)}{' '}
      <span className="text-sm text-muted">{t('quality.fromHours', { count: n })}</span>
    </>
  );
}
