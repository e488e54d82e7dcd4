import type { ReportSchedule } from '@gantry/contract/reports';
import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../shared/form/form-dialog.tsx';
import { useNotices } from '../../shared/notices/notices.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { SecondLine, TIME_WIDTH, textColumn, timeColumn } from '../../shared/table/column.tsx';
import { type Column, DataTable } from '../../shared/table/data-table.tsx';
import { ExportButton } from '../../shared/table/export-button.tsx';
import { usePages } from '../../shared/table/pages.ts';
import { useCursor } from '../../shared/table/use-cursor.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { ReportsFrame } from './reports-frame.tsx';
import { ScheduleDialog } from './schedule-dialog.tsx';
import { LastSent } from './send-to-fields.tsx';
import { hourText, weekdayName } from './when-fields.tsx';

const keyOf = ({ id }: ReportSchedule): string => id;

/** The open dialog: to create, edit or delete a schedule. */
type Open =
  | { readonly what: 'new' }
  | { readonly what: 'edit' | 'delete'; readonly schedule: ReportSchedule };

/** The schedules of reports that are generated daily, weekly or monthly. */
export function SchedulesPage() {
  const { t } = useTranslation('reports');
  const { t: common } = useTranslation('common');
  const { say } = useNotices();
  const client = useQueryClient();
  const mayView = useMay('viewReports');
  const mayGenerate = useMay('generateReports');
  const [open, setOpen] = useState<Open | null>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const close = () => setOpen(null);
  const columns = useScheduleColumns({
    mayChange: mayGenerate,
    onEdit: (schedule) => setOpen({ what: 'edit', schedule }),
    onDelete: (schedule) => setOpen({ what: 'delete', schedule }),
  });
  const pages = usePages({
    queryKey: service.reports.getSchedules.queryKey(),
    load: (page, signal) => api.reports.getSchedules.query(page, { signal }),
    rows: 'schedules',
    keyOf,
    enabled: mayView,
  });
  useCursor({
    rows: pages.rows,
    keyOf,
    activeKey: cursor,
    onMove: ({ id }) => setCursor(id),
    ...(mayGenerate && { onOpen: (schedule: ReportSchedule) => setOpen({ what: 'edit', schedule }) }),
  });
  useShortcuts(
    mayGenerate
      ? [{ keys: 'n', label: t('schedules.new'), scope: 'page', run: () => setOpen({ what: 'new' }) }]
      : [],
  );
  const create = mayGenerate && (
    <Button kind="primary" icon="add" onClick={() => setOpen({ what: 'new' })}>
      {t('schedules.new')}
    </Button>
  );
  const save = <ExportButton title={t('parts.schedules')} {...{ columns, pages }} />;
  return (
    <ReportsFrame
      commands={
        <>
          {save}
          {create}
        </>
      }
    >
      <DataTable
        label={t('parts.schedules')}
        columns={columns}
        pages={pages}
        keyOf={keyOf}
        activeKey={cursor}
        onActivate={({ id }) => setCursor(id)}
        empty={
          <Empty icon="time" title={t('schedules.first')} action={create}>
            {t('schedules.firstText')}
          </Empty>
        }
      />
      {(open?.what === 'new' || open?.what === 'edit') && (
        <ScheduleDialog schedule={open.what === 'edit' ? open.schedule : null} onClose={close} />
      )}
      {open?.what === 'delete' && (
        <ConfirmDialog
          title={t('schedules.delete', { name: t(`kinds.${open.schedule.kind}`) })}
          action={common('dialog.delete')}
          run={() => api.reports.deleteSchedule.mutate({ id: open.schedule.id })}
          onDone={() => {
            close();
            say(t('schedules.deleted'));
            void client.invalidateQueries({ queryKey: service.reports.getSchedules.pathKey() });
          }}
          onClose={close}
        >
          <p>{t('schedules.deleteText')}</p>
        </ConfirmDialog>
      )}
    </ReportsFrame>
  );
}

interface Options {
  readonly mayChange: boolean;
  readonly onEdit: (schedule: ReportSchedule) => void;
  readonly onDelete: (schedule: ReportSchedule) => void;
}

function useScheduleColumns({ mayChange, onEdit, onDelete }: Options): readonly Column<ReportSchedule>[] {
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
      cell: (schedule) => <ScheduleActions {...{ schedule, onEdit, onDelete }} />,
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
      textColumn('zone', t('schedules.zone'), ({ timezone }) => timezone, { wideOnly: true, width: '11rem' }),
      {
        id: 'next',
        header: t('schedules.next'),
        csv: ({ nextRunAt }) => nextRunAt ?? t('schedules.off'),
        width: TIME_WIDTH,
        notNarrow: true,
        cell: ({ nextRunAt }) => (nextRunAt ? <Moment at={nextRunAt} /> : off),
      },
      timeColumn('last', t('schedules.last'), ({ lastRunAt }) => lastRunAt, {
        wideOnly: true,
      }),
      {
        id: 'sent',
        header: t('sendTo.last'),
        csv: ({ lastSent }) =>
          (lastSent?.recipients ?? [])
            .map(({ recipient, status, error }) =>
              [recipient, t(`sendTo.statuses.${status}`), error].filter(Boolean).join(': '),
            )
            .join('; '),
        width: '12rem',
        wideOnly: true,
        cell: ({ lastSent }) => <LastSent last={lastSent} />,
      },
      textColumn('by', t('files.by'), ({ createdBy }) => createdBy?.name, { wideOnly: true, width: '10rem' }),
      ...(mayChange ? [actions] : []),
    ];
  }, [t, i18n.language, mayChange]);
}

function ScheduleActions({
  schedule,
  onEdit,
  onDelete,
}: Omit<Options, 'mayChange'> & { readonly schedule: ReportSchedule }) {
  const { t } = useTranslation('reports');
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
}
