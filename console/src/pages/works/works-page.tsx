import { permissionNames } from '@gantry/contract/permissions';
import type { WorksState } from '@gantry/contract/work-states';
import type { Works } from '@gantry/contract/works';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Filter } from '../../shared/filters/filter.ts';
import { FilterBar } from '../../shared/filters/filter-bar.tsx';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { whereOf } from '../../shared/places/works.ts';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { nameColumn, textColumn, timeColumn } from '../../shared/table/column.tsx';
import { type Column, DataTable } from '../../shared/table/data-table.tsx';
import { ExportButton } from '../../shared/table/export-button.tsx';
import { usePages } from '../../shared/table/pages.ts';
import { useCursor } from '../../shared/table/use-cursor.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty, NoMatch } from '../../ui/empty.tsx';
import { partLook } from '../../ui/links.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { WorksStateBadge } from './parts.tsx';
import { WorksCalendar } from './works-calendar.tsx';
import { WorksDialog } from './works-dialog.tsx';

const keyOf = ({ id }: Works): string => id;

type Part = 'upcoming' | 'active' | 'past' | 'calendar';
const parts: readonly Part[] = ['upcoming', 'active', 'past', 'calendar'];
const statesOf: Readonly<Record<Exclude<Part, 'calendar'>, WorksState[]>> = {
  upcoming: ['DRAFT', 'APPROVED'],
  active: ['ACTIVE'],
  past: ['ENDED', 'CANCELLED'],
};

/** Planned works: those to come, those in force, those that are over, and the calendar of a week. */
export function WorksPage() {
  if (!useMay('manageIncidents')) return <NotAllowed permission={permissionNames.manageIncidents} />;
  return <WorksParts />;
}

function WorksParts() {
  const { t } = useTranslation('works');
  const { part = 'upcoming', create, sensors, search } = useSearch({ from: '/shell/works' });
  const navigate = useNavigate({ from: '/works' });
  const open = () => void navigate({ search: (all) => ({ ...all, create: true }) });
  const close = () =>
    void navigate({ search: (all) => ({ ...all, create: undefined, sensors: undefined }), replace: true });
  useShortcuts([{ keys: 'n', label: t('create'), scope: 'page', run: open }]);
  return (
    <>
      <PageHeader
        title={t('title')}
        note={
          <nav aria-label={t('parts.label')} className="flex flex-wrap gap-1">
            {parts.map((name) => (
              <Link
                key={name}
                to="/works"
                search={{ part: name === 'upcoming' ? undefined : name, search }}
                className={partLook(name === part)}
                aria-current={name === part ? 'page' : undefined}
              >
                {t(`parts.${name}`)}
              </Link>
            ))}
          </nav>
        }
      >
        <Button kind="primary" icon="add" onClick={open}>
          {t('create')}
        </Button>
      </PageHeader>
      {part === 'calendar' ? <WorksCalendar /> : <WorksList key={part} part={part} onCreate={open} />}
      {(create || sensors) && (
        <WorksDialog
          sensorIds={sensors ?? []}
          onClose={close}
          onSaved={({ id }) => void navigate({ to: '/works/$worksId', params: { worksId: id } })}
        />
      )}
    </>
  );
}

interface WorksListProps {
  readonly part: Exclude<Part, 'calendar'>;
  readonly onCreate: () => void;
}

function WorksList({ part, onCreate }: WorksListProps) {
  const { t } = useTranslation('works');
  const { search } = useSearch({ from: '/shell/works' });
  const navigate = useNavigate({ from: '/works' });
  const input = {
    states: statesOf[part],
    sortOrder: part === 'past' ? ('desc' as const) : ('asc' as const),
    ...(search !== undefined && { search }),
  };
  const columns = useWorksColumns();
  const pages = usePages({
    queryKey: service.works.getAll.queryKey(input),
    load: (page, signal) => api.works.getAll.query({ ...input, ...page }, { signal }),
    rows: 'works',
    keyOf,
  });
  const filters = useMemo<readonly Filter[]>(
    () => [{ kind: 'text', name: 'search', label: t('fields.search') }],
    [t],
  );
  const show = ({ id }: Works) => void navigate({ to: '/works/$worksId', params: { worksId: id } });
  const [activeKey, setActive] = useState<string | null>(null);
  useCursor({ rows: pages.rows, keyOf, activeKey, onMove: ({ id }) => setActive(id), onOpen: show });
  return (
    <>
      <FilterBar
        filters={filters}
        values={{ search }}
        onChange={(changes) => void navigate({ search: (all) => ({ ...all, ...changes }), replace: true })}
      >
        <ExportButton title={t(`parts.${part}`)} {...{ columns, pages, filters }} values={{ search }} />
      </FilterBar>
      <DataTable
        label={t(`parts.${part}`)}
        {...{ columns, pages, keyOf, activeKey }}
        onActivate={show}
        empty={
          search === undefined ? (
            <Empty
              icon="busy"
              title={t(`none.${part}`)}
              action={
                part === 'upcoming' && (
                  <Button kind="primary" icon="add" onClick={onCreate}>
                    {t('create')}
                  </Button>
                )
              }
            >
              {t('noneText')}
            </Empty>
          ) : (
            <NoMatch
              title={t('noMatch')}
              onClear={() => void navigate({ search: (all) => ({ ...all, search: undefined }) })}
            />
          )
        }
      />
    </>
  );
}

function useWorksColumns(): readonly Column<Works>[] {
  const { t } = useTranslation('works');
  return useMemo<readonly Column<Works>[]>(
    () => [
      {
        id: 'title',
        header: t('fields.title'),
        csv: ({ title }) => title,
        cell: (works) => (
          <>
            <Link
              to="/works/$worksId"
              params={{ worksId: works.id }}
              className="one-line block py-0! leading-tight! hover:underline"
            >
              <bdi>{works.title}</bdi>
            </Link>
            <span className="flex gap-1 text-xs leading-tight! text-muted @xl:hidden print:hidden">
              <Moment at={works.window?.from ?? works.startsAt} />
              <span className="one-line leading-tight!">
                <bdi>{whereOf(works)}</bdi>
              </span>
            </span>
          </>
        ),
      },
      {
        id: 'state',
        header: t('fields.state'),
        width: '8rem',
        csv: ({ state }) => t(`states.${state}`),
        cell: ({ state }) => <WorksStateBadge state={state} />,
      },
      nameColumn('kind', t('fields.kind'), ({ kind }) => t(`kinds.${kind}`), {
        width: '9rem',
        wideOnly: true,
      }),
      textColumn('where', t('fields.where'), whereOf, { width: '14rem', notNarrow: true }),
      timeColumn('from', t('fields.nextFrom'), ({ window, startsAt }) => window?.from ?? startsAt, {
        notNarrow: true,
      }),
      timeColumn('until', t('fields.nextUntil'), ({ window, endsAt }) => window?.until ?? endsAt, {
        from: 'medium',
      }),
    ],
    [t],
  );
}
