import { type ComponentProps, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { Empty, NoMatch } from '../../ui/empty.tsx';
import type { IconName } from '../../ui/icon.tsx';
import { later } from '../../ui/load-code.ts';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import type { Filter, FilterValues } from '../filters/filter.ts';
import { FilterBar } from '../filters/filter-bar.tsx';
import { ViewSwitch } from '../map/view-switch.tsx';
import { PageHeader } from '../page/page-header.tsx';
import { type Column, DataTable } from '../table/data-table.tsx';
import type { Pages } from '../table/pages.ts';
import { useCursor } from '../table/use-cursor.ts';
import type { Noun } from './import-dialog.tsx';
import { roadLookUp } from './look-ups.ts';

/** The filters by a part of a road: the road, and the positions between which it lies. */
export function corridorFilters(road: string, from: string, to: string): readonly Filter[] {
  const position = { kind: 'number', min: -99_999, max: 99_999, isFractional: true } as const;
  return [
    { kind: 'lookUp', name: 'road', label: road, ...roadLookUp },
    { ...position, name: 'fromKilometre', label: from },
    { ...position, name: 'toKilometre', label: to },
  ];
}

interface PlacesPageProps<Row> {
  /** The name under which views of the page are saved. */
  readonly page: string;
  readonly title: string;
  /** The number of rows, shown next to the title. */
  readonly note: ReactNode;
  readonly filters: readonly Filter[];
  readonly values: FilterValues & { readonly view?: 'map' | undefined };
  readonly change: (values: FilterValues) => void;
  readonly onClear: () => void;
  readonly list: PlaceListProps<Row>;
  /** The button that exports the list as a file. */
  readonly save: ReactNode;
  /** Commands for selected rows, above the list. */
  readonly bar?: ReactNode;
  /** Links to other lists, in the header. */
  readonly links?: ReactNode;
  readonly map: ReactNode;
  /** The label of the button that creates an object; undefined if the user may not create one. */
  readonly create?: string | undefined;
  readonly onCreate: () => void;
  /** What the user may import; undefined for nothing. */
  readonly imports?: Noun | undefined;
  /** Shown when no row matches the filters. */
  readonly noMatch: string;
  /** Shown when there are no rows at all. */
  readonly first: { readonly icon: IconName; readonly title: string; readonly text: ReactNode };
}

/** A page of sensors or locations, as a list or on a map. Their URLs differ only in the parameter `view`. */
export function PlacesPage<Row>({
  page,
  title,
  note,
  filters,
  values,
  change,
  ...rest
}: PlacesPageProps<Row>) {
  const { t } = useTranslation(['map', 'common']);
  const { list, save, bar, links, map, create, onCreate, imports, onClear, noMatch, first } = rest;
  const isMap = values.view === 'map';
  const switchView = () => change({ view: isMap ? undefined : 'map' });
  useShortcuts([
    { keys: 'v', label: t('switchView'), scope: 'page', run: switchView },
    ...(create === undefined ? [] : [{ keys: 'n', label: create, scope: 'page' as const, run: onCreate }]),
  ]);
  const isFiltered = filters.some(({ name }) => values[name] !== undefined);
  return (
    <>
      <PageHeader title={title} note={note}>
        <ViewSwitch isMap={isMap} onSwitch={switchView} />
        {links}
        {imports !== undefined && <ImportButton noun={imports} />}
        {create !== undefined && (
          <Button kind="primary" icon="add" onClick={onCreate}>
            {create}
          </Button>
        )}
      </PageHeader>
      <FilterBar page={page} filters={filters} values={values} onChange={change}>
        {!isMap && save}
      </FilterBar>
      {!isMap && bar}
      {isMap ? (
        map
      ) : (
        <PlaceList
          {...list}
          empty={
            isFiltered ? (
              <NoMatch title={noMatch} onClear={onClear} />
            ) : (
              <Empty
                icon={first.icon}
                title={first.title}
                action={create !== undefined && <Button onClick={onCreate}>{create}</Button>}
              >
                {first.text}
              </Empty>
            )
          }
        />
      )}
    </>
  );
}

const useImportDialog = later(async () => (await import('./import-dialog.tsx')).ImportDialog);

function ImportButton({ noun }: { readonly noun: Noun }) {
  const { t } = useTranslation('sensors');
  const [isOpen, setOpen] = useState(false);
  const ImportDialog = useImportDialog(isOpen);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t('files.open')}</Button>
      {isOpen && ImportDialog && <ImportDialog noun={noun} onClose={() => setOpen(false)} />}
    </>
  );
}

interface PlaceListProps<Row>
  extends Pick<ComponentProps<typeof DataTable<Row>>, 'selected' | 'nameOf' | 'onSelect' | 'onSelectAll'> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly pages: Pages<Row>;
  readonly keyOf: (row: Row) => string;
  readonly activeKey: string | undefined;
  readonly sort: { readonly by: string; readonly order: 'asc' | 'desc' };
  readonly onSort: (sort: { readonly by: string; readonly order: 'asc' | 'desc' }) => void;
  readonly onMove: (row: Row) => void;
  readonly onOpen: (row: Row) => void;
}

function PlaceList<Row>({
  onMove,
  onOpen,
  activeKey,
  ...list
}: PlaceListProps<Row> & { readonly empty: ReactNode }) {
  useCursor({ rows: list.pages.rows, keyOf: list.keyOf, activeKey: activeKey ?? null, onMove, onOpen });
  return <DataTable {...list} activeKey={activeKey ?? null} onActivate={onOpen} />;
}
