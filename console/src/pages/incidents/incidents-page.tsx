import { permissionNames } from '@gantry/contract/permissions';
import { useTranslation } from 'react-i18next';
import { FilterBar } from '../../shared/filters/filter-bar.tsx';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { PlatesHidden } from '../../shared/service/plates.tsx';
import { useMay } from '../../shared/session/may.ts';
import { WithDefaultView } from '../../shared/views/with-default-view.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Select } from '../../ui/select.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { Board } from './board.tsx';
import { IncidentFigures } from './figures.tsx';
import { IncidentList } from './incident-list.tsx';
import { NewIncidentDialog } from './new-incident-dialog.tsx';
import { SaveIncidents } from './save-incidents.tsx';
import { useIncidentCommands } from './use-commands.tsx';
import { useIncidentFilters } from './use-filters.ts';
import { useIncidentPages } from './use-incident-pages.ts';
import { useIncidentsSearch } from './use-incidents-search.ts';

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
