import type { CaseState } from '@gantry/contract/case-states';
import type { CaseSummary } from '@gantry/contract/cases';
import type { LookUpReason } from '@gantry/contract/events';
import { permissionNames } from '@gantry/contract/permissions';
import { caseKinds, caseStates, rejectionCodes } from '@gantry/contract/values';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { findCodes, useCodeNames, violationCodes } from '../../shared/events/codes.ts';
import { dateFilters, type Filter, type FilterValues } from '../../shared/filters/filter.ts';
import { FilterBar } from '../../shared/filters/filter-bar.tsx';
import { enteredInto } from '../../shared/form/form.ts';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { sensorLookUp } from '../../shared/places/look-ups.ts';
import { PlateReasonFields, PlatesHidden, readPlateReason, useLookUp } from '../../shared/service/plates.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { SecondLine, textColumn, timeColumn } from '../../shared/table/column.tsx';
import { type Column, DataTable } from '../../shared/table/data-table.tsx';
import { ExportButton } from '../../shared/table/export-button.tsx';
import { usePages } from '../../shared/table/pages.ts';
import { useCursor } from '../../shared/table/use-cursor.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty, NoMatch } from '../../ui/empty.tsx';
import { partLook } from '../../ui/links.tsx';
import { CaseStateBadge, useSubject } from './parts.tsx';

const keyOf = ({ id }: CaseSummary): string => id;

const parts = ['open', 'second', 'over', 'all'] as const;
type Part = (typeof parts)[number];

const statesOf: Readonly<Record<Part, readonly CaseState[]>> = {
  open: ['NEW', 'CHECKED', 'DISPUTED'],
  second: ['CHECKED'],
  over: ['VERIFIED', 'EXPORTED', 'REJECTED'],
  all: caseStates,
};

/** The queue of cases: those that nobody has decided, those that wait for the user as second person, and the others. */
export function CasesPage() {
  return useMay('verifyCases') ? <Cases /> : <NotAllowed permission={permissionNames.verifyCases} />;
}

function Cases() {
  const { t } = useTranslation('cases');
  const { part = 'open', sortBy = 'age', sortOrder, ...values } = useSearch({ from: '/shell/cases' });
  const navigate = useNavigate({ from: '/cases' });
  // Of those that wait, the oldest comes first.
  const isQueue = part === 'open' || part === 'second';
  const order = sortOrder ?? (isQueue === (sortBy === 'age') ? 'desc' : 'asc');
  const { states = statesOf[part], kind, ...rest } = values;
  const lookUp = usePlateLookUp(values.search);
  const input = {
    ...rest,
    ...(kind && { kinds: [kind] }),
    ...lookUp.why,
    ...(part === 'second' ? { mine: 'SECOND' as const } : { states: [...states] }),
    sortBy,
    sortOrder: order,
  };
  const pages = usePages({
    queryKey: service.cases.getAll.queryKey(input),
    load: (page, signal) => api.cases.getAll.query({ ...input, ...page }, { signal }),
    rows: 'cases',
    keyOf,
    enabled: !lookUp.isHeld,
  });
  const columns = useCaseColumns();
  const filters = useCaseFilters(part);
  const change = (changes: FilterValues) =>
    void navigate({ search: (all) => ({ ...all, ...changes }), replace: true });
  const show = ({ number }: CaseSummary) =>
    void navigate({ to: '/cases/$caseId', params: { caseId: number } });
  const [activeKey, setActive] = useState<string | null>(null);
  useCursor({ rows: pages.rows, keyOf, activeKey, onMove: ({ id }) => setActive(id), onOpen: show });
  const isFiltered = Object.values(values).some((value) => value !== undefined);
  return (
    <>
      <PageHeader title={t('title')} note={<Parts open={part} />} />
      <PlatesHidden />
      <FilterBar filters={filters} values={values} onChange={change}>
        <ExportButton title={t(`parts.${part}`)} {...{ columns, pages, filters, values }} />
      </FilterBar>
      {lookUp.isAsked ? (
        <PlateReason onGiven={lookUp.give} />
      ) : (
        <DataTable
          label={t(`parts.${part}`)}
          {...{ columns, pages, keyOf, activeKey }}
          sort={{ by: sortBy, order }}
          onSort={({ by, order: next }) => change({ sortBy: by, sortOrder: next })}
          onActivate={show}
          empty={
            isFiltered ? (
              <NoMatch
                title={t('noMatch')}
                onClear={() => void navigate({ search: part === 'open' ? {} : { part } })}
              />
            ) : (
              <Empty icon="case" title={t(`none.${part}`)}>
                {t('noneText')}
              </Empty>
            )
          }
        />
      )}
    </>
  );
}

/** The number of a case. Anything else is searched for as a plate, which is recorded. */
const NUMBER = /^\d{4}-\d+$/;

/** Why a plate is searched for. Where a reason or a purpose is required, the search waits for it. */
function usePlateLookUp(search: string | undefined) {
  const plate = search === undefined || NUMBER.test(search) ? undefined : search;
  const { why, isRequired, give } = useLookUp(plate);
  const isOpen = plate !== undefined && why === undefined;
  return { why, give, isAsked: isOpen && isRequired === true, isHeld: isOpen && isRequired !== false };
}

/** Asks why a plate is searched for. */
function PlateReason({ onGiven }: { readonly onGiven: (why: LookUpReason) => void }) {
  const { t } = useTranslation('events');
  const give = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onGiven(readPlateReason(enteredInto(event.currentTarget)));
  };
  return (
    <form onSubmit={give} className="flex max-w-xl flex-col gap-3 p-4">
      <p>{t('plateReason.held')}</p>
      <PlateReasonFields errorOf={noError} isChecked />
      <Button kind="primary" type="submit" className="self-start">
        {t('plateReason.search')}
      </Button>
    </form>
  );
}

const noError = () => undefined;

/** Links to the parts of the queue, with how many cases wait in them. */
function Parts({ open }: { readonly open: Part }) {
  const { t, i18n } = useTranslation('cases');
  const { data } = useQuery(service.cases.getAll.queryOptions({ take: 1 }));
  const waiting = data?.waiting;
  const counts: Partial<Record<Part, number>> = waiting
    ? { open: waiting.check + waiting.second + waiting.decide, second: waiting.second }
    : {};
  return (
    <nav aria-label={t('parts.label')} className="flex flex-wrap gap-1">
      {parts.map((name) => {
        const count = counts[name];
        return (
          <Link
            key={name}
            to="/cases"
            search={name === 'open' ? {} : { part: name }}
            className={partLook(name === open)}
            aria-current={name === open ? 'page' : undefined}
          >
            {t(`parts.${name}`)}
            {count !== undefined && (
              <span className="figures ms-1.5 text-sm text-muted">{count.toLocaleString(i18n.language)}</span>
            )}
          </Link>
        );
      })}
    </nav>
  );
}

function useCaseFilters(part: Part): readonly Filter[] {
  const { t } = useTranslation('cases');
  const names = useCodeNames();
  return useMemo<readonly Filter[]>(
    () => [
      // Each search for a plate is recorded, so it begins with Enter.
      { kind: 'text', name: 'search', label: t('fields.search'), hint: t('searchHint'), onEnter: true },
      ...(part === 'second'
        ? []
        : [
            {
              kind: 'choices' as const,
              name: 'states',
              label: t('fields.state'),
              options: statesOf[part].map((value) => ({ value, label: t(`states.${value}`) })),
            },
          ]),
      {
        kind: 'choice',
        name: 'kind',
        label: t('fields.kind'),
        options: caseKinds.map((value) => ({ value, label: t(`kinds.${value}`) })),
      },
      {
        kind: 'lookUp',
        name: 'violationType',
        label: t('fields.violationType'),
        find: async (typed) => findCodes(violationCodes, names.violation, typed),
        nameOf: async (code) => names.violation(code),
      },
      {
        kind: 'choice',
        name: 'code',
        label: t('fields.code'),
        options: rejectionCodes.map((value) => ({ value, label: t(`codes.${value}`) })),
      },
      { kind: 'lookUp', name: 'sensorId', label: t('fields.sensor'), ...sensorLookUp },
      ...dateFilters(t('fields.from'), t('fields.until')),
    ],
    [t, names, part],
  );
}

function useCaseColumns(): readonly Column<CaseSummary>[] {
  const { t } = useTranslation('cases');
  const subject = useSubject();
  return useMemo<readonly Column<CaseSummary>[]>(
    () => [
      {
        id: 'number',
        header: t('fields.number'),
        width: 'max(8.5rem, 12cqi)',
        sortBy: 'number',
        csv: ({ number }) => number,
        cell: ({ number }) => (
          <Link to="/cases/$caseId" params={{ caseId: number }} className="font-mono hover:underline">
            <bdi dir="ltr">{number}</bdi>
          </Link>
        ),
      },
      {
        id: 'subject',
        header: t('fields.subject'),
        csv: subject,
        cell: (row) => (
          <>
            <bdi>{subject(row)}</bdi>
            <SecondLine notNarrow>
              <Moment at={row.happenedAt} as="ago" />
            </SecondLine>
          </>
        ),
      },
      {
        id: 'state',
        header: t('fields.state'),
        width: '8.5rem',
        csv: ({ state }) => t(`states.${state}`),
        cell: ({ state }) => <CaseStateBadge state={state} />,
      },
      textColumn('plate', t('fields.plate'), ({ licensePlateNumber }) => licensePlateNumber, {
        width: '8rem',
        notNarrow: true,
        className: 'font-mono',
      }),
      textColumn('place', t('fields.place'), ({ locationName, sensorName }) => locationName ?? sensorName, {
        width: '12rem',
        from: 'medium',
      }),
      textColumn('first', t('fields.firstBy'), ({ firstBy }) => firstBy?.name, {
        width: '10rem',
        wideOnly: true,
      }),
      timeColumn('age', t('fields.happenedAt'), ({ happenedAt }) => happenedAt, {
        width: '8rem',
        sortBy: 'age',
        notNarrow: true,
        as: 'ago',
      }),
    ],
    [t, subject],
  );
}
