import { permissionNames } from '@gantry/contract/permissions';
import type { Study } from '@gantry/contract/studies';
import { studyKinds, studyStatuses } from '@gantry/contract/values';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Filter } from '../../../../shared/filters/filter.ts';
import { FilterBar } from '../../../../shared/filters/filter-bar.tsx';
import { NotAllowed } from '../../../../shared/page/page-failure.tsx';
import { useToday } from '../../../../shared/range/range-picker.tsx';
import { api, service } from '../../../../shared/service/service.ts';
import { useMay } from '../../../../shared/session/session.ts';
import { SecondLine, textColumn } from '../../../../shared/table/column.tsx';
import { type Column, DataTable } from '../../../../shared/table/data-table.tsx';
import { ExportButton } from '../../../../shared/table/export-button.tsx';
import { usePages } from '../../../../shared/table/pages.ts';
import { useCursor } from '../../../../shared/table/use-cursor.ts';
import { useServiceTime } from '../../../../shared/time/use-time.ts';
import { Button } from '../../../../ui/button.tsx';
import { Empty, NoMatch } from '../../../../ui/empty.tsx';
import { useShortcuts } from '../../../../ui/shortcuts.tsx';
import { placeOf } from '../../comparison.ts';
import { TrafficHeader } from '../../traffic-frame.tsx';
import { StudyDialog } from './study-dialog.tsx';
import { ShortHash, StudyBadge } from './study-status.tsx';

const keyOf = ({ id }: Study): string => id;

/** The list of studies: figures that are frozen, with the data on which they are based, and signed. */
export function StudiesPage() {
  return useMay('viewReports') ? <Studies /> : <NotAllowed permission={permissionNames.viewReports} />;
}

function Studies() {
  const { t } = useTranslation('studies');
  const search = useSearch({ from: '/shell/traffic/studies' });
  const navigate = useNavigate({ from: '/traffic/studies' });
  const today = useToday();
  const mayCreate = useMay('generateReports');
  const { kind, status, create, study: cursor } = search;
  const place = placeOf(search);
  const filter = { ...(kind && { kind }), ...(status && { status }) };
  const change = (values: Readonly<Record<string, unknown>>) =>
    void navigate({ search: (all) => ({ ...all, ...values }), replace: true });
  const columns = useStudyColumns();
  const pages = usePages({
    queryKey: service.studies.list.queryKey(filter),
    load: (page, signal) => api.studies.list.query({ ...filter, ...page }, { signal }),
    rows: 'studies',
    keyOf,
  });
  const open = ({ id }: Study) =>
    void navigate({ to: '/traffic/studies/$studyId', params: { studyId: id }, search: {} });
  useCursor({
    rows: pages.rows,
    keyOf,
    activeKey: cursor ?? null,
    onMove: ({ id }) => change({ study: id }),
    onOpen: open,
  });
  const filters = useStudyFilters();
  useShortcuts(
    mayCreate
      ? [{ keys: 'n', label: t('signing.new'), scope: 'page', run: () => change({ create: true }) }]
      : [],
  );
  const add = mayCreate && (
    <Button kind="primary" icon="add" onClick={() => change({ create: true })}>
      {t('signing.new')}
    </Button>
  );
  const clear = () => change({ kind: undefined, status: undefined });
  return (
    <>
      <TrafficHeader
        place={place}
        {...(search.startDate &&
          search.endDate && { days: { startDate: search.startDate, endDate: search.endDate } })}
        commands={
          <>
            <ExportButton title={t('signing.title')} {...{ columns, pages }} />
            {add}
          </>
        }
      />
      <FilterBar filters={filters} values={filter} onChange={change} />
      <DataTable
        label={t('signing.title')}
        columns={columns}
        pages={pages}
        keyOf={keyOf}
        activeKey={cursor ?? null}
        onActivate={open}
        empty={<NoStudies isFiltered={Boolean(kind || status)} onClear={clear} add={add} />}
      />
      {create && mayCreate && today !== null && (
        <StudyDialog today={today} onClose={() => change({ create: undefined })} />
      )}
    </>
  );
}

interface NoStudiesProps {
  readonly isFiltered: boolean;
  readonly onClear: () => void;
  readonly add: ReactNode;
}

function NoStudies({ isFiltered, onClear, add }: NoStudiesProps) {
  const { t } = useTranslation('studies');
  return isFiltered ? (
    <NoMatch title={t('signing.noMatch')} onClear={onClear} />
  ) : (
    <Empty icon="file" title={t('signing.first')} action={add}>
      {t('signing.firstText')}
    </Empty>
  );
}

function useStudyFilters(): readonly Filter[] {
  const { t } = useTranslation('studies');
  return useMemo<readonly Filter[]>(
    () => [
      {
        kind: 'choice',
        name: 'kind',
        label: t('signing.kind'),
        options: studyKinds.map((value) => ({ value, label: t(`signing.kinds.${value}`) })),
      },
      {
        kind: 'choice',
        name: 'status',
        label: t('signing.status'),
        options: studyStatuses.map((value) => ({ value, label: t(`signing.statuses.${value}`) })),
      },
    ],
    [t],
  );
}

function useStudyColumns(): readonly Column<Study>[] {
  const { t } = useTranslation('studies');
  const time = useServiceTime();
  return useMemo(() => {
    const daysOf = ({ range }: Study): string =>
      [...new Set([time.date(range.startDate), time.date(range.endDate)])].join(' – ');
    return [
      {
        id: 'title',
        header: t('signing.fields.title'),
        csv: ({ title }) => title,
        cell: (study) => (
          <>
            <Link
              to="/traffic/studies/$studyId"
              params={{ studyId: study.id }}
              search={{}}
              className="one-line block py-0! leading-tight! hover:underline"
            >
              <bdi>{study.title}</bdi>
            </Link>
            <SecondLine wideOnly>
              <bdi>{study.placeName}</bdi> · <bdi dir="ltr">{daysOf(study)}</bdi>
            </SecondLine>
          </>
        ),
      },
      {
        id: 'status',
        header: t('signing.status'),
        csv: ({ status }) => t(`signing.statuses.${status}`),
        width: '7rem',
        cell: ({ status }) => <StudyBadge status={status} />,
      },
      textColumn('kind', t('signing.kind'), ({ kind }) => t(`signing.kinds.${kind}`), {
        width: '11rem',
        notNarrow: true,
      }),
      textColumn('place', t('place'), ({ placeName }) => placeName, { wideOnly: true }),
      {
        id: 'days',
        header: t('period'),
        csv: daysOf,
        width: '12.5rem',
        wideOnly: true,
        cell: (study) => <bdi dir="ltr">{daysOf(study)}</bdi>,
      },
      textColumn('author', t('signing.fields.author'), ({ author }) => author.name, {
        width: '8rem',
        from: 'medium',
      }),
      textColumn('reviewer', t('signing.fields.reviewer'), ({ reviewer }) => reviewer?.name, {
        width: '8rem',
        wideOnly: true,
      }),
      {
        id: 'hash',
        header: t('signing.fields.hash'),
        csv: ({ hash }) => hash,
        width: '7rem',
        wideOnly: true,
        cell: ({ hash }) => hash && <ShortHash hash={hash} />,
      },
    ];
  }, [t, time]);
}
