import type { CalendarDay } from '@gantry/contract/calendars';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../../shared/form/form-dialog.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { useToday } from '../../../shared/range/range-picker.tsx';
import { queryClient } from '../../../shared/service/queries.ts';
import { api, service } from '../../../shared/service/service.ts';
import { textColumn } from '../../../shared/table/column.tsx';
import { type Column, DataTable } from '../../../shared/table/data-table.tsx';
import { ExportButton } from '../../../shared/table/export-button.tsx';
import { usePages } from '../../../shared/table/pages.ts';
import { useServiceTime } from '../../../shared/time/use-time.ts';
import { Button } from '../../../ui/button.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { Select } from '../../../ui/select.tsx';
import { useShortcuts } from '../../../ui/shortcuts.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { CalendarDialog } from './calendar-dialog.tsx';

const keyOf = ({ id }: CalendarDay): string => id;

/** Reads the days again, and the figures of traffic that depend on them. */
const readAgain = () => {
  void queryClient.invalidateQueries({ queryKey: service.calendars.pathKey() });
  void queryClient.invalidateQueries({ queryKey: service.traffic.pathKey() });
};

/** The days on which traffic is not as usual, of one year. */
export function CalendarPage() {
  const today = useToday();
  return today === null ? <Skeleton rows={8} /> : <Calendar thisYear={Number(today.slice(0, 4))} />;
}

/** The years to choose from: before this one, and after it. */
const YEARS = { before: 10, after: 2 };

function Calendar({ thisYear }: { readonly thisYear: number }) {
  const { t } = useTranslation('administration');
  const time = useServiceTime();
  const { say } = useNotices();
  const navigate = useNavigate({ from: '/administration/calendar' });
  const { year = String(thisYear) } = useSearch({ from: '/shell/administration/calendar' });
  const [adds, setAdds] = useState(false);
  const [deleted, setDeleted] = useState<CalendarDay | null>(null);
  const range = { startDate: `${year}-01-01`, endDate: `${year}-12-31` };
  const columns = useDayColumns(setDeleted);
  const pages = usePages({
    queryKey: service.calendars.list.queryKey(range),
    load: (page, signal) => api.calendars.list.query({ ...range, ...page }, { signal }),
    rows: 'days',
    keyOf,
  });
  useShortcuts([{ keys: 'n', label: t('calendar.add'), scope: 'page', run: () => setAdds(true) }]);
  const years = Array.from({ length: YEARS.before + YEARS.after + 1 }, (_, at) =>
    String(thisYear + YEARS.after - at),
  );
  const add = (
    <Button kind="primary" icon="add" onClick={() => setAdds(true)}>
      {t('calendar.add')}
    </Button>
  );
  return (
    <>
      <PageHeader
        title={t('calendar.title')}
        note={pages.total !== null && t('calendar.total', { count: pages.total })}
      >
        <Select
          label={t('calendar.year')}
          hideLabel
          value={year}
          options={[...new Set([...years, year])].map((value) => ({ value, label: value }))}
          onChange={(value) => void navigate({ search: { year: value } })}
        />
        <ExportButton title={`${t('calendar.title')} ${year}`} {...{ columns, pages }} />
        {pages.rows.length > 0 && add}
      </PageHeader>
      <DataTable
        label={t('calendar.title')}
        {...{ columns, pages, keyOf }}
        empty={
          <Empty icon="calendar" title={t('calendar.none', { year })} action={add}>
            {t('calendar.noneText')}
          </Empty>
        }
      />
      {adds && (
        <CalendarDialog
          year={year}
          onClose={() => setAdds(false)}
          onAdded={(count) => {
            setAdds(false);
            say(t('calendar.added', { count }));
            readAgain();
          }}
        />
      )}
      {deleted && (
        <ConfirmDialog
          title={t('calendar.deleteTitle')}
          action={t('calendar.delete')}
          run={() => api.calendars.delete.mutate({ id: deleted.id })}
          onDone={() => {
            setDeleted(null);
            readAgain();
          }}
          onClose={() => setDeleted(null)}
        >
          <p>
            <bdi dir="ltr">{time.day(deleted.date)}</bdi> <bdi className="font-semibold">{deleted.name}</bdi>
          </p>
          <p>{t('calendar.deleteText')}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function useDayColumns(onDelete: (day: CalendarDay) => void): readonly Column<CalendarDay>[] {
  const { t, i18n } = useTranslation('administration');
  const time = useServiceTime();
  return useMemo(() => {
    const weekday = new Intl.DateTimeFormat(i18n.language, { weekday: 'long', timeZone: 'UTC' });
    return [
      {
        id: 'date',
        header: t('calendar.date'),
        csv: ({ date }) => date,
        width: '8rem',
        cell: ({ date }) => (
          <bdi dir="ltr" className="figures">
            {time.day(date)}
          </bdi>
        ),
      },
      {
        id: 'weekday',
        header: t('calendar.weekday'),
        width: '8rem',
        notNarrow: true,
        cell: ({ date }) => weekday.format(new Date(`${date}T00:00:00Z`)),
      },
      textColumn('name', t('calendar.name'), ({ name }) => name),
      textColumn('kind', t('calendar.kind'), ({ kind }) => t(`calendar.kinds.${kind}`), {
        width: '9rem',
        notNarrow: true,
      }),
      {
        id: 'location',
        header: t('calendar.location'),
        csv: ({ locationId }) => locationId,
        wideOnly: true,
        cell: ({ locationId }) =>
          locationId === null ? t('calendar.everywhere') : <LocationName id={locationId} />,
      },
      {
        id: 'delete',
        header: t('calendar.delete'),
        isHeaderHidden: true,
        width: '3rem',
        cell: (day) => (
          <Button
            kind="quiet"
            icon="delete"
            iconOnly
            aria-label={t('calendar.deleteDay', { day: `${time.day(day.date)} ${day.name}` })}
            onClick={() => onDelete(day)}
          />
        ),
      },
    ];
  }, [t, i18n, onDelete, time]);
}

function LocationName({ id }: { readonly id: string }) {
  const { data } = useQuery({
    ...service.locations.getById.queryOptions({ id }),
    staleTime: 300_000,
    retry: false,
  });
  return <bdi>{data?.name ?? id}</bdi>;
}
