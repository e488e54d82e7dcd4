import type { Incident } from '@gantry/contract/incidents';
import { permissionNames } from '@gantry/contract/permissions';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Filter, FilterValues } from '../../shared/filters/filter.ts';
import { FilterBar } from '../../shared/filters/filter-bar.tsx';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { PlatesHidden } from '../../shared/service/plates.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import type { ExportColumn } from '../../shared/table/export.ts';
import { ExportButton } from '../../shared/table/export-button.tsx';
import { type Pages, usePages } from '../../shared/table/pages.ts';
import { useTime } from '../../shared/time/use-time.ts';
import { WithDefaultView } from '../../shared/views/with-default-view.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { LinkButton } from '../../ui/links.tsx';
import { Select } from '../../ui/select.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { Board } from './board.tsx';
import { IncidentList, useIncidentColumns } from './incident-list.tsx';
import { NewIncidentDialog } from './new-incident-dialog.tsx';
import { useIncidentCommands } from './use-commands.tsx';
import { useIncidentFilters } from './use-filters.ts';
import { type IncidentsInput, useIncidentsSearch } from './use-incidents-search.ts';

/** The page of incidents, as a board or as a list. */
export function IncidentsPage() {
  if (!useMay('manageIncidents')) return <NotAllowed permission={permissionNames.manageIncidents} />;
  return (
    <WithDefaultView page="incidents">
      <Incidents />
    </WithDefaultView>
  );
}

const orders = ['openedAt', 'severity', 'updatedAt'] as const;

function Incidents() {
  const { t } = useTranslation('incidents');
  const { view, cursor, input, beginning, change, clear, closeNew, open } = useIncidentsSearch();
  const filters = useIncidentFilters();
  const commands = useIncidentCommands();
  const pages = useIncidentPages(input, view === 'list');
  const other = view === 'board' ? 'list' : 'board';
  const turn = () => change({ view: view === 'board' ? 'list' : undefined });
  const create = () => change({ new: 1 });
  const openNew = async (id: string) => {
    // The entry of the form is replaced first, so that Back leads to the board and not to an empty form.
    await closeNew();
    open(id);
  };
  useShortcuts([
    { keys: 'c', label: t('new.title'), scope: 'page', run: create },
    { keys: 'v', label: t('views.turn'), scope: 'page', run: turn },
  ]);
  const isFiltered = filters.some(({ name }) => name in input);
  const empty = isFiltered ? (
    <Empty
      icon="filter"
      title={t('empty.noMatch')}
      action={<Button onClick={clear}>{t('empty.clear')}</Button>}
    />
  ) : (
    <Empty
      icon="incident"
      title={t('empty.first')}
      action={<Button onClick={create}>{t('new.title')}</Button>}
    >
      {t('empty.firstText')}
    </Empty>
  );
  const shared = {
    input,
    cursor,
    commands,
    empty,
    onOpen: open,
    onMove: (id: string) => change({ incident: id }),
  };
  return (
    <>
      <PageHeader title={t('title')} note={<IncidentFigures />}>
        <Button icon={other === 'list' ? 'menu' : 'overview'} onClick={turn}>
          {t(`views.${other}`)}
        </Button>
        <LinkButton icon="chart" to="/incidents/performance">
          {t('performance.link')}
        </LinkButton>
        <Button kind="primary" icon="add" onClick={create}>
          {t('new.title')}
        </Button>
      </PageHeader>
      <PlatesHidden />
      <FilterBar page="incidents" filters={filters} values={input} onChange={change}>
        {view === 'board' && (
          <Select
            label={t('order.label')}
            hideLabel
            value={input.sortBy ?? 'openedAt'}
            options={orders.map((value) => ({ value, label: t(`order.${value}`) }))}
            onChange={(sortBy) =>
              change({ sortBy: sortBy === 'openedAt' ? undefined : sortBy, sortOrder: undefined })
            }
          />
        )}
        {view === 'list' && <SaveIncidents {...{ pages, filters, values: input }} />}
      </FilterBar>
      {commands.conflict}
      {view === 'board' ? (
        <Board {...shared} />
      ) : (
        <IncidentList
          {...shared}
          pages={pages}
          onSort={({ by, order }) => change({ sortBy: by, sortOrder: order })}
        />
      )}
      {commands.dialogs}
      {beginning && (
        <NewIncidentDialog beginning={beginning} onClose={() => void closeNew()} onCreated={openNew} />
      )}
    </>
  );
}

/** The number of open incidents, and the mean times to acknowledge and to resolve one. */
function IncidentFigures() {
  const { t } = useTranslation('incidents');
  const time = useTime();
  const { data } = useQuery(service.incidents.getStats.queryOptions());
  if (!data) return null;
  const { open, meanTimeToAcknowledge, meanTimeToResolve } = data;
  return (
    <div className="flex flex-wrap gap-x-4">
      <span>{t('figures.open', { count: open })}</span>
      {meanTimeToAcknowledge !== null && (
        <span className="max-md:hidden">
          {t('figures.meanToAcknowledge')} {time.duration(meanTimeToAcknowledge * 1000)}
        </span>
      )}
      {meanTimeToResolve !== null && (
        <span className="max-md:hidden">
          {t('figures.meanToResolve')} {time.duration(meanTimeToResolve * 1000)}
        </span>
      )}
    </div>
  );
}

interface SaveIncidentsProps {
  readonly pages: Pages<Incident>;
  readonly filters: readonly Filter[];
  readonly values: FilterValues;
}

/** A button that saves the list of incidents as CSV, with more columns than the list shows. */
function SaveIncidents({ pages, filters, values }: SaveIncidentsProps) {
  const { t } = useTranslation(['incidents', 'common']);
  const columns: readonly ExportColumn<Incident>[] = [
    ...useIncidentColumns(),
    { header: t('fields.closedAt'), csv: ({ closedAt }) => closedAt },
    { header: t('fields.reportedBy'), csv: ({ reportedBy }) => reportedBy?.name ?? null },
    { header: t('common:coordinates.latitude'), csv: ({ location }) => location?.latitude ?? null },
    { header: t('common:coordinates.longitude'), csv: ({ location }) => location?.longitude ?? null },
    { header: t('fields.lanesBlocked'), csv: ({ lanesBlocked }) => lanesBlocked },
    { header: t('fields.description'), csv: ({ description }) => description },
  ];
  return <ExportButton title={t('title')} {...{ columns, pages, filters, values }} />;
}

/** The pages of the incident list. @param enabled whether the list is shown; if not, nothing is requested */
function useIncidentPages(input: IncidentsInput, enabled: boolean): Pages<Incident> {
  return usePages({
    queryKey: service.incidents.getAll.queryKey(input),
    load: (page, signal) => api.incidents.getAll.query({ ...input, ...page }, { signal }),
    rows: 'incidents',
    keyOf: ({ id }) => id,
    enabled,
  });
}
