import { DAY_MS } from '@gantry/contract/durations';
import { faultStates } from '@gantry/contract/fault-states';
import type { Fault } from '@gantry/contract/faults';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Filter } from '../../../shared/filters/filter.ts';
import { FilterBar } from '../../../shared/filters/filter-bar.tsx';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { sensorLookUp } from '../../../shared/places/look-ups.ts';
import { api, service } from '../../../shared/service/service.ts';
import { useMay } from '../../../shared/session/session.ts';
import { FaultBadge } from '../../../shared/status/fault-badge.tsx';
import { figureColumn, SecondLine, textColumn, timeColumn } from '../../../shared/table/column.tsx';
import { type Column, DataTable } from '../../../shared/table/data-table.tsx';
import { ExportButton } from '../../../shared/table/export-button.tsx';
import { usePages } from '../../../shared/table/pages.ts';
import { useCursor } from '../../../shared/table/use-cursor.ts';
import { usePane } from '../../../shared/url/use-pane.ts';
import { Button } from '../../../ui/button.tsx';
import { Empty, NoMatch } from '../../../ui/empty.tsx';
import { BackLink } from '../../../ui/links.tsx';
import { later } from '../../../ui/load-code.ts';
import { useShortcuts } from '../../../ui/shortcuts.tsx';

const useReportFault = later(async () => (await import('./fault-dialogs.tsx')).ReportFaultDialog);
const useFaultDialog = later(async () => (await import('./fault-dialogs.tsx')).FaultDialog);

const keyOf = ({ id }: Fault): string => id;

/** The faults of all sensors, or those that match the filters. */
export function FaultsPage() {
  const { t } = useTranslation('sensors', { keyPrefix: 'faults' });
  const { t: sensorText } = useTranslation('sensors');
  const { fault: openId, kiosk: _, ...search } = useSearch({ from: '/shell/sensors/faults' });
  const { change, open, close } = usePane('/sensors/faults', 'fault', openId);
  const navigate = useNavigate({ from: '/sensors/faults' });
  const mayReport = useMay('manageIncidents');
  const [reports, setReports] = useState(false);
  const [cursor, setCursor] = useState<string | null>(null);
  const ReportFaultDialog = useReportFault(reports);
  const FaultDialog = useFaultDialog(openId !== undefined);
  const input = {
    ...search,
    sortBy: 'foundAt',
    // Those that are open wait, so the oldest come first.
    sortOrder: search.open ? 'asc' : 'desc',
  } as const;
  const filters = useFaultFilters();
  const columns = useFaultColumns();
  const pages = usePages({
    queryKey: service.faults.getAll.queryKey(input),
    load: (page, signal) => api.faults.getAll.query({ ...input, ...page }, { signal }),
    rows: 'faults',
    keyOf,
  });
  const activeKey = openId ?? cursor;
  useCursor({ rows: pages.rows, keyOf, activeKey, onMove: ({ id }) => setCursor(id), onOpen: open });
  useShortcuts(
    mayReport ? [{ keys: 'n', label: t('report.title'), scope: 'page', run: () => setReports(true) }] : [],
  );
  const isFiltered = filters.some(({ name }) => name !== 'open' && name in search);
  return (
    <>
      <PageHeader
        title={
          <>
            <BackLink to="/sensors" aria-label={sensorText('back')} />
            {t('title')}
          </>
        }
        subject={t('title')}
        note={pages.total !== null && t('total', { count: pages.total })}
      >
        {mayReport && (
          <Button kind="primary" icon="maintenance" onClick={() => setReports(true)}>
            {t('report.action')}
          </Button>
        )}
      </PageHeader>
      <FilterBar filters={filters} values={search} onChange={change}>
        <ExportButton title={t('title')} {...{ columns, pages, filters, values: search }} />
      </FilterBar>
      <DataTable
        label={t('title')}
        {...{ columns, pages, keyOf, activeKey }}
        onActivate={open}
        isDone={({ state }) => state === 'REPAIRED'}
        empty={
          isFiltered ? (
            <NoMatch title={t('noMatch')} onClear={() => void navigate({ search: {} })} />
          ) : (
            <Empty icon="good" title={t('none')}>
              {t('noneText')}
            </Empty>
          )
        }
      />
      {reports && ReportFaultDialog && <ReportFaultDialog onClose={() => setReports(false)} />}
      {openId !== undefined && FaultDialog && <FaultDialog key={openId} id={openId} onClose={close} />}
    </>
  );
}

function useFaultFilters(): readonly Filter[] {
  const { t } = useTranslation('sensors', { keyPrefix: 'faults' });
  return useMemo<readonly Filter[]>(
    () => [
      { kind: 'text', name: 'search', label: t('filters.search') },
      { kind: 'yesNo', name: 'open', label: t('filters.open'), yes: t('filters.yes'), no: t('filters.no') },
      {
        kind: 'choice',
        name: 'state',
        label: t('fields.state'),
        options: faultStates.map((value) => ({ value, label: t(`states.${value}`) })),
      },
      { kind: 'lookUp', name: 'sensorId', label: t('fields.sensor'), ...sensorLookUp },
    ],
    [t],
  );
}

/** For how many whole days a fault was not repaired. */
function daysOf({ foundAt, state, since }: Fault): number {
  const end = state === 'REPAIRED' ? since.getTime() : Date.now();
  return Math.max(0, Math.floor((end - foundAt.getTime()) / DAY_MS));
}

function useFaultColumns(): readonly Column<Fault>[] {
  const { t } = useTranslation('sensors', { keyPrefix: 'faults' });
  return useMemo(
    () => [
      {
        id: 'text',
        header: t('fields.text'),
        csv: ({ text }) => text,
        cell: ({ id, text, reason, sensor }) => (
          <>
            <Link
              from="/sensors/faults"
              to="/sensors/faults"
              search={(all) => ({ ...all, fault: id })}
              className="one-line block py-0! leading-tight! hover:underline"
            >
              <bdi>{text}</bdi>
            </Link>
            <SecondLine from="medium">
              <bdi>{sensor.name}</bdi>
            </SecondLine>
            <span className="one-line block text-xs leading-tight! text-muted @max-3xl:hidden">
              <bdi>{reason ?? ''}</bdi>
            </span>
          </>
        ),
      },
      {
        id: 'state',
        header: t('fields.state'),
        width: 'min(9.5rem, 34cqi)',
        csv: ({ state }) => t(`states.${state}`),
        cell: ({ state }) => <FaultBadge state={state} />,
      },
      {
        id: 'sensor',
        header: t('fields.sensor'),
        from: 'medium',
        csv: ({ sensor }) => sensor.name,
        cell: ({ sensor, place }) => (
          <>
            <Link
              to="/sensors/$sensorId"
              params={{ sensorId: sensor.id }}
              className="one-line block py-0! leading-tight! hover:underline"
            >
              <bdi>{sensor.name}</bdi>
            </Link>
            <span className="one-line block text-xs leading-tight! text-muted">
              <bdi>{place ?? ''}</bdi>
            </span>
          </>
        ),
      },
      textColumn('code', t('fields.code'), ({ code }) => code, { width: '7rem', wideOnly: true }),
      textColumn('ticket', t('fields.ticket'), ({ ticket }) => ticket, { width: '9rem', wideOnly: true }),
      timeColumn('foundAt', t('fields.foundAt'), ({ foundAt }) => foundAt, {
        from: 'medium',
      }),
      figureColumn('days', t('fields.days'), daysOf, { width: '4.5rem', notNarrow: true }),
    ],
    [t],
  );
}
