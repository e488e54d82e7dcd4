import type { WatchlistAlert, WatchlistEntry } from '@gantry/contract/watchlist';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useSeesPlates } from '../../shared/service/plates.tsx';
import { SeverityBadge } from '../../shared/status/badges.tsx';
import { SecondLine, textColumn, timeColumn } from '../../shared/table/column.tsx';
import type { Column } from '../../shared/table/data-table.tsx';
import { Moment } from '../../shared/time/moment.tsx';
import { useNow } from '../../shared/time/use-time.ts';
import { Badge } from '../../ui/badge.tsx';

/**
 * The columns of the list of alerts.
 * @param isNarrow whether the details pane is open, which leaves no room for the pattern and the reason
 */
export function useAlertColumns(isNarrow: boolean): readonly Column<WatchlistAlert>[] {
  const { t } = useTranslation(['watchlist', 'common']);
  const columns = useMemo<readonly Column<WatchlistAlert>[]>(
    () => [
      timeColumn('raised', t('fields.raised'), ({ createdAt }) => createdAt, {
        sortBy: 'createdAt',
        from: 'medium',
      }),
      timeColumn('read', t('fields.read'), ({ timestamp }) => timestamp, {
        wideOnly: true,
      }),
      {
        id: 'priority',
        header: t('fields.priority'),
        sortBy: 'priority',
        width: '6.5rem',
        csv: ({ priority }) => t(`common:severity.${priority}`),
        cell: ({ priority }) => <SeverityBadge severity={priority} />,
      },
      {
        id: 'plate',
        header: t('fields.plate'),
        width: 'min(8.5rem, 33cqi)',
        csv: ({ licensePlateNumber }) => licensePlateNumber,
        cell: (alert) => <PlateCell alert={alert} />,
      },
      textColumn('pattern', t('fields.pattern'), ({ pattern }) => pattern, {
        width: '8.5rem',
        wideOnly: true,
        className: 'font-mono text-muted',
      }),
      textColumn('reason', t('fields.reason'), ({ reason }) => reason, { wideOnly: true }),
      {
        id: 'place',
        header: t('fields.place'),
        from: 'medium',
        csv: ({ locationName }) => locationName,
        cell: ({ locationName, sensorName }) => <bdi>{locationName ?? sensorName}</bdi>,
      },
      {
        id: 'state',
        header: t('fields.state'),
        width: 'min(11rem, 67cqi - 6.5rem)',
        csv: ({ acknowledgedAt }) => t(acknowledgedAt ? 'alerts.acknowledged' : 'alerts.open'),
        cell: (alert) => <StateCell alert={alert} />,
      },
    ],
    [t],
  );
  return useMemo(
    () => (isNarrow ? columns.filter(({ id }) => id !== 'pattern' && id !== 'reason') : columns),
    [columns, isNarrow],
  );
}

function PlateCell({ alert }: { readonly alert: WatchlistAlert }) {
  const { t } = useTranslation('watchlist');
  const { licensePlateNumber, locationName, sensorName, sightings } = alert;
  return (
    <>
      <bdi className="font-mono">{licensePlateNumber}</bdi>
      {sightings > 1 && (
        <span
          className="figures ms-1.5 text-sm text-muted"
          title={t('alerts.sightings', { count: sightings })}
        >
          <span aria-hidden="true" dir="ltr">{`× ${sightings}`}</span>
          <span className="sr-only">{t('alerts.sightings', { count: sightings })}</span>
        </span>
      )}
      <SecondLine from="medium">
        <bdi>{locationName ?? sensorName}</bdi>
      </SecondLine>
    </>
  );
}

function StateCell({ alert }: { readonly alert: WatchlistAlert }) {
  const { t } = useTranslation('watchlist');
  const { acknowledgedBy, acknowledgedAt, timestamp, backlog } = alert;
  return (
    <>
      {acknowledgedAt ? (
        <Badge tone="calm" icon="acknowledge">
          <bdi className="one-line">{acknowledgedBy?.name ?? t('alerts.acknowledged')}</bdi>
        </Badge>
      ) : (
        <Badge tone={backlog ? 'low' : 'high'} icon={backlog ? 'time' : 'alert'}>
          {t(backlog ? 'alerts.backlog' : 'alerts.open')}
          <Moment at={timestamp} as="ago" className="one-line ms-1 text-sm text-muted @max-[22rem]:hidden" />
        </Badge>
      )}
      <SecondLine from="medium">
        <Moment at={timestamp} />
      </SecondLine>
    </>
  );
}

export function usePlateColumns(): readonly Column<WatchlistEntry>[] {
  const { t } = useTranslation(['watchlist', 'common']);
  const seesPlates = useSeesPlates();
  return useMemo(
    () => [
      {
        id: 'pattern',
        header: t('fields.pattern'),
        ...(seesPlates && { sortBy: 'pattern' }),
        width: '9.5rem',
        cell: ({ pattern }) => <bdi className="font-mono">{pattern}</bdi>,
        csv: ({ pattern }) => pattern,
      },
      {
        id: 'priority',
        header: t('fields.priority'),
        sortBy: 'priority',
        width: '6.5rem',
        cell: ({ priority }) => <SeverityBadge severity={priority} />,
        csv: ({ priority }) => t(`common:severity.${priority}`),
      },
      textColumn('reason', t('fields.reason'), ({ reason }) => reason),
      {
        id: 'validity',
        header: t('fields.validity'),
        sortBy: 'validUntil',
        width: '19rem',
        wideOnly: true,
        cell: (entry) => <Validity entry={entry} />,
      },
      {
        id: 'fuzzy',
        header: t('fields.fuzzy'),
        width: '8rem',
        wideOnly: true,
        cell: ({ fuzzy }) =>
          fuzzy ? t('plates.fuzzy') : <span className="text-muted">{t('plates.exact')}</span>,
        csv: ({ fuzzy }) => t(fuzzy ? 'plates.fuzzy' : 'plates.exact'),
      },
      textColumn('createdBy', t('fields.createdBy'), ({ createdBy }) => createdBy.name, {
        width: '10rem',
        wideOnly: true,
      }),
      timeColumn('createdAt', t('fields.createdAt'), ({ createdAt }) => createdAt, {
        sortBy: 'createdAt',
        width: '7rem',
        wideOnly: true,
        as: 'date',
      }),
    ],
    [t, seesPlates],
  );
}

/** Whether an entry is in force now, and its first and last day. */
function Validity({ entry: { validFrom, validUntil } }: { readonly entry: WatchlistEntry }) {
  const { t } = useTranslation('watchlist');
  const now = useNow(60_000);
  const state =
    validFrom && validFrom.getTime() > now
      ? 'later'
      : validUntil && validUntil.getTime() < now
        ? 'over'
        : 'now';
  return (
    <span className="flex items-center gap-3">
      <Badge tone="calm" icon={state === 'now' ? 'good' : state === 'later' ? 'time' : 'none'}>
        {t(`validity.${state}`)}
      </Badge>
      {(validFrom || validUntil) && (
        <span className="text-muted" dir="ltr">
          {validFrom && <Moment at={validFrom} as="date" />} –{' '}
          {validUntil && <Moment at={validUntil} as="date" />}
        </span>
      )}
    </span>
  );
}
