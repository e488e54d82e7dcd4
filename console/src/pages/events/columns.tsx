import type { Event } from '@gantry/contract/events';
import { useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useCodeNames } from '../../shared/events/codes.ts';
import { SeverityBadge } from '../../shared/status/badges.tsx';
import { speedFigure } from '../../shared/status/speed.ts';
import { textColumn, timeColumn } from '../../shared/table/column.tsx';
import type { Column } from '../../shared/table/data-table.tsx';
import { useTime } from '../../shared/time/use-time.ts';
import { toneLetters } from '../../ui/badge.tsx';
import { Icon } from '../../ui/icon.tsx';
import { decisionLooks, ReviewMark } from './triage/review-mark.tsx';
import type { ReviewedEvent } from './triage/row-states.ts';

/** The columns of every list of events. */
export function useEventColumns(): readonly Column<Event>[] {
  const { t, i18n } = useTranslation('events');
  const { kiosk } = useSearch({ from: '/shell' });
  const names = useCodeNames();
  return useMemo(
    () => [
      timeColumn('timestamp', t('fields.timestamp'), ({ timestamp }) => timestamp, {
        sortBy: 'timestamp',
      }),
      {
        id: 'type',
        header: t('fields.eventType'),
        sortBy: 'eventType',
        cell: ({ eventType, violationType }) =>
          violationType === null ? (
            t(`types.${eventType}`)
          ) : (
            <>
              <bdi>{names.violation(violationType)}</bdi>{' '}
              <span className="text-muted">{t(`types.${eventType}`)}</span>
            </>
          ),
      },
      {
        id: 'severity',
        header: t('fields.severity'),
        sortBy: 'severity',
        width: '6.5rem',
        notNarrow: true,
        cell: ({ severity }) => severity && <SeverityBadge severity={severity} />,
      },
      {
        id: 'plate',
        header: t('fields.plate'),
        width: 'min(7.5rem, 28cqi)',
        cell: ({ licensePlateNumber }) =>
          // Anybody can read a wall display, so plates are masked in kiosk mode.
          licensePlateNumber && <bdi className="font-mono">{kiosk ? '•••' : licensePlateNumber}</bdi>,
      },
      {
        id: 'speed',
        header: t('fields.speed'),
        width: '5rem',
        isFigure: true,
        from: 'medium',
        cell: ({ vehicleSpeed }) => vehicleSpeed !== null && speedFigure(vehicleSpeed, i18n.language),
      },
      {
        id: 'vehicle',
        header: t('fields.vehicleType'),
        width: '7rem',
        wideOnly: true,
        cell: ({ vehicleType }) => vehicleType && <bdi>{names.vehicle(vehicleType)}</bdi>,
      },
      textColumn(
        'place',
        t('fields.location'),
        ({ locationName, sensorName }) => locationName ?? sensorName,
        { from: 'medium' },
      ),
    ],
    [t, i18n.language, kiosk, names],
  );
}

/**
 * A narrow column that marks the events that were reviewed, processed or archived. It stands in for the review column
 * while the pane leaves no room for that.
 */
export function useMarkColumn(): Column<ReviewedEvent> {
  const { t } = useTranslation('events');
  return useMemo(
    () => ({
      id: 'mark',
      header: t('fields.state'),
      isHeaderHidden: true,
      width: '2.25rem',
      cell: ({ review, processed, archived }) => {
        if (!review && !processed && !archived) return null;
        const name = review
          ? t(`decisions.${review.decision}`)
          : t(processed ? 'state.processed' : 'state.archived');
        const { icon, tone } = decisionLooks[review?.decision ?? 'CONFIRMED'];
        return (
          <span title={name} className={toneLetters[tone]}>
            <Icon name={icon} size={15} />
            <span className="sr-only">{name}</span>
          </span>
        );
      },
    }),
    [t],
  );
}

/** The column with the latest review of each event: the decision, who made it, when and why. */
export function useReviewColumn(): Column<ReviewedEvent> {
  const { t } = useTranslation('events');
  return useMemo(
    () => ({
      id: 'state',
      header: t('fields.state'),
      width: '13rem',
      wideOnly: true,
      cell: (event) => <ReviewMark event={event} />,
    }),
    [t],
  );
}

/** Names an event for screen readers: what happened, the plate and the time. */
export function useEventName(): (event: Event) => string {
  const { t } = useTranslation('events');
  const names = useCodeNames();
  const time = useTime();
  return useCallback(
    ({ eventType, violationType, licensePlateNumber, timestamp }) =>
      [
        violationType === null ? t(`types.${eventType}`) : names.violation(violationType),
        licensePlateNumber,
        time.dateTime(timestamp),
      ]
        .filter(Boolean)
        .join(', '),
    [t, names, time],
  );
}
