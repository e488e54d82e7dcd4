import type { ReportSchedule } from '@gantry/contract/reports';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Column } from '../../shared/table/data-table.tsx';
import { SecondLine } from '../../shared/table/second-line.tsx';
import { Moment } from '../../shared/time/moment.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { hourText, weekdayName } from './when-fields.tsx';

interface Options {
  readonly mayChange: boolean;
  readonly onEdit: (schedule: ReportSchedule) => void;
  readonly onDelete: (schedule: ReportSchedule) => void;
}

/** The columns of the list of schedules. */
export function useScheduleColumns({
  mayChange,
  onEdit,
  onDelete,
}: Options): readonly Column<ReportSchedule>[] {
  const { t, i18n } = useTranslation('reports');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the callbacks do the same on every render
  return useMemo(() => {
    const dayOf = ({ every, weekday, dayOfMonth }: ReportSchedule): string => {
      if (every === 'WEEKLY' && weekday !== null) return weekdayName(weekday, i18n.language);
      if (every === 'MONTHLY' && dayOfMonth !== null) return t('schedules.onDay', { day: dayOfMonth });
      return '';
    };
    const off = (
      <Badge tone="low" icon="none">
        {t('schedules.off')}
      </Badge>
    );
    const actions: Column<ReportSchedule> = {
      id: 'actions',
      header: t('files.actions'),
      width: '6.5rem',
      isFigure: true,
      cell: (schedule) => {
        const name = t(`kinds.${schedule.kind}`);
        return (
          <span className="flex justify-end gap-1">
            <Button
              kind="quiet"
              icon="edit"
              iconOnly
              aria-label={t('schedules.change', { name })}
              onClick={() => onEdit(schedule)}
            />
            <Button
              kind="quiet"
              icon="delete"
              iconOnly
              aria-label={t('schedules.delete', { name })}
              onClick={() => onDelete(schedule)}
            />
          </span>
        );
      },
    };
    return [
      {
        id: 'kind',
        header: t('kind'),
        csv: ({ kind, format }) => `${t(`kinds.${kind}`)} ${format}`,
        cell: ({ kind, format, nextRunAt }) => (
          <>
            {t(`kinds.${kind}`)} <span className="text-muted @max-xl:hidden">{format}</span>
            <SecondLine notNarrow>{nextRunAt === null ? off : format}</SecondLine>
          </>
        ),
      },
      {
        id: 'every',
        header: t('schedules.every'),
        csv: (schedule) =>
          [t(`periods.${schedule.every}`), dayOf(schedule), hourText(schedule.hour)]
            .filter(Boolean)
            .join(' '),
        cell: (schedule) => {
          const when = (
            <span>
              {dayOf(schedule)} <bdi dir="ltr">{hourText(schedule.hour)}</bdi>
            </span>
          );
          return (
            <>
              {t(`periods.${schedule.every}`)} <span className="@max-xl:hidden">{when}</span>
              <SecondLine notNarrow>{when}</SecondLine>
            </>
          );
        },
      },
      {
        id: 'zone',
        header: t('schedules.zone'),
        csv: ({ timezone }) => timezone,
        wideOnly: true,
        width: '11rem',
        cell: ({ timezone }) => <bdi>{timezone}</bdi>,
      },
      {
        id: 'next',
        header: t('schedules.next'),
        csv: ({ nextRunAt }) => nextRunAt ?? t('schedules.off'),
        width: '11.5rem',
        notNarrow: true,
        cell: ({ nextRunAt }) => (nextRunAt ? <Moment at={nextRunAt} /> : off),
      },
      {
        id: 'last',
        header: t('schedules.last'),
        csv: ({ lastRunAt }) => lastRunAt,
        width: '11.5rem',
        wideOnly: true,
        cell: ({ lastRunAt }) => lastRunAt && <Moment at={lastRunAt} />,
      },
      {
        id: 'by',
        header: t('files.by'),
        csv: ({ createdBy }) => createdBy?.name ?? null,
        wideOnly: true,
        width: '10rem',
        cell: ({ createdBy }) => <bdi>{createdBy?.name}</bdi>,
      },
      ...(mayChange ? [actions] : []),
    ];
  }, [t, i18n.language, mayChange]);
}
