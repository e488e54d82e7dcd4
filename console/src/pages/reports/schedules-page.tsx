import type { ReportSchedule } from '@gantry/contract/reports';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../shared/form/confirm-dialog.tsx';
import { useNotices } from '../../shared/notices/notices.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/may.ts';
import { DataTable } from '../../shared/table/data-table.tsx';
import { ExportButton } from '../../shared/table/export-button.tsx';
import { usePages } from '../../shared/table/pages.ts';
import { useCursor } from '../../shared/table/use-cursor.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { ReportsFrame } from './reports-frame.tsx';
import { ScheduleDialog } from './schedule-dialog.tsx';
import { useScheduleColumns } from './use-schedule-columns.tsx';

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
  const pages = usePages<ReportSchedule>({
    queryKey: service.reports.getSchedules.queryKey(),
    load: async (page, signal) => {
      const { schedules, total } = await api.reports.getSchedules.query(page, { signal });
      return { rows: schedules, total };
    },
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
