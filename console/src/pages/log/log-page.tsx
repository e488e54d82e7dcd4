import type { LogEntry } from '@gantry/contract/log';
import { permissionNames } from '@gantry/contract/permissions';
import type { Shift } from '@gantry/contract/shifts';
import { logKinds, MAX_LOG_TEXT } from '@gantry/contract/values';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { dateFilters, type Filter } from '../../shared/filters/filter.ts';
import { FilterBar } from '../../shared/filters/filter-bar.tsx';
import { useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { LogComposer } from '../../shared/log/log-composer.tsx';
import { LogEntries } from '../../shared/log/log-entries.tsx';
import { readLogAgain } from '../../shared/log/read-again.ts';
import { useNotices } from '../../shared/notices/notices.tsx';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { containing } from '../../shared/places/look-ups.ts';
import { Failure } from '../../shared/service/failure.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { useTime } from '../../shared/time/use-time.ts';
import { Button } from '../../ui/button.tsx';
import { Empty, NoMatch } from '../../ui/empty.tsx';
import { Field } from '../../ui/field.tsx';
import { LinkButton } from '../../ui/links.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';

/** The shifts among which the filter looks for one. */
const LATEST_SHIFTS = 100;

/** The log of the control room: a line for the next entry, and the entries, newest first. */
export function LogPage() {
  const { t } = useTranslation('log');
  if (!useMay('manageIncidents')) return <NotAllowed permission={permissionNames.manageIncidents} />;
  return (
    <>
      <PageHeader title={t('title')}>
        <LinkButton to="/shift" icon="users">
          {t('shift')}
        </LinkButton>
      </PageHeader>
      <Log />
    </>
  );
}

function Log() {
  const { t } = useTranslation('log');
  const search = useSearch({ from: '/shell/log' });
  const navigate = useNavigate({ from: '/log' });
  const [corrected, setCorrected] = useState<LogEntry | null>(null);
  const filters = useLogFilters();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: [...service.log.getAll.queryKey(search), 'pages'],
    queryFn: ({ pageParam, signal }) =>
      api.log.getAll.query({ ...search, ...(pageParam && { before: pageParam }) }, { signal }),
    initialPageParam: '',
    getNextPageParam: ({ entries, hasMore }) => (hasMore ? entries.at(-1)?.id : undefined),
  });
  const entries = data?.pages.flatMap((page) => page.entries) ?? [];
  const isFiltered = Object.values(search).some((each) => each !== undefined);
  const clear = () => void navigate({ search: {} });
  return (
    <>
      <div className="border-b px-4 py-2 print:hidden">
        <LogComposer />
      </div>
      <FilterBar
        filters={filters}
        values={search}
        onChange={(changes) => void navigate({ search: (all) => ({ ...all, ...changes }), replace: true })}
      />
      <div className="min-h-0 grow overflow-y-auto">
        {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Skeleton rows={8} />}
        {data &&
          entries.length === 0 &&
          (isFiltered ? <NoMatch title={t('noMatch')} onClear={clear} /> : <None />)}
        <LogEntries
          label={t('entries')}
          entries={entries}
          commandsFor={(entry) =>
            entry.correctedBy === null && (
              <Button
                kind="quiet"
                icon="edit"
                iconOnly
                aria-label={t('correctOf', { text: entry.text.slice(0, 60) })}
                onClick={() => setCorrected(entry)}
              />
            )
          }
        />
        {hasNextPage && (
          <Button className="m-3" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {t('more')}
          </Button>
        )}
      </div>
      {corrected && <CorrectDialog entry={corrected} onClose={() => setCorrected(null)} />}
    </>
  );
}

function None() {
  const { t } = useTranslation('log');
  return (
    <Empty icon="list" title={t('none')}>
      {t('noneText')}
    </Empty>
  );
}

function useLogFilters(): readonly Filter[] {
  const { t } = useTranslation('log');
  const time = useTime();
  return useMemo<readonly Filter[]>(() => {
    const nameOf = ({ desk, startedAt }: Pick<Shift, 'desk' | 'startedAt'>) =>
      `${desk}, ${time.dateTime(startedAt)}`;
    return [
      { kind: 'text', name: 'search', label: t('fields.search') },
      {
        kind: 'choice',
        name: 'kind',
        label: t('fields.kind'),
        options: logKinds.map((value) => ({ value, label: t(`kinds.${value}`) })),
      },
      { kind: 'yesNo', name: 'current', label: t('fields.current'), yes: t('onlyCurrent'), no: t('all') },
      { kind: 'yesNo', name: 'valid', label: t('fields.valid'), yes: t('onlyValid'), no: t('all') },
      {
        kind: 'lookUp',
        name: 'shiftId',
        label: t('fields.shift'),
        find: async (part) => {
          const { shifts } = await api.shifts.getAll.query({ take: LATEST_SHIFTS });
          const all = shifts.map((shift) => ({ value: shift.id, label: nameOf(shift) }));
          return containing(all, part);
        },
        nameOf: async (id) => nameOf(await api.shifts.getById.query({ id })),
      },
      ...dateFilters(t('fields.from'), t('fields.until')),
    ];
  }, [t, time]);
}

/** A form whose text stands in the place of an entry, which stays as it is. */
function CorrectDialog({ entry, onClose }: { readonly entry: LogEntry; readonly onClose: () => void }) {
  const { t } = useTranslation('log');
  const { say } = useNotices();
  const { id, kind, text } = entry;
  const form = useForm({
    keep: `log entry ${id}`,
    read: (entered) => ({
      ...{ id, text: entered.text('text') },
      ...(entered.checked('ends') && { validUntil: new Date().toISOString() }),
    }),
    save: (input) => api.log.correct.mutate(input),
    onSuccess: () => {
      say(t('corrected'));
      readLogAgain();
      onClose();
    },
  });
  return (
    <FormDialog title={t('correct')} form={form} onClose={onClose} action={t('correct')}>
      <p className="text-sm text-muted">{t('correctText')}</p>
      <Field
        label={t('fields.text')}
        name="text"
        lines={4}
        defaultValue={text}
        maxLength={MAX_LOG_TEXT}
        error={form.errorOf('text')}
        required
      />
      {kind === 'INSTRUCTION' && (
        <label className="flex min-h-8 items-center gap-2 pointer-coarse:min-h-11">
          <input type="checkbox" name="ends" className="size-4 accent-accent" />
          {t('ends')}
        </label>
      )}
    </FormDialog>
  );
}
