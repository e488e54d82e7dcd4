import { MAX_LOOK_BACK_DAYS, USUAL_LOOK_BACK_DAYS } from '@gantry/contract/hit-values';
import type { Hotlist, HotlistLookBack } from '@gantry/contract/hotlists';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../shared/form/form.ts';
import { useNotices } from '../../shared/notices/notices.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { api, service } from '../../shared/service/service.ts';
import { figureColumn, timeColumn } from '../../shared/table/column.tsx';
import { type Column, DataTable } from '../../shared/table/data-table.tsx';
import { usePages } from '../../shared/table/pages.ts';
import { Badge, type Look } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Field } from '../../ui/field.tsx';

const keyOf = ({ id }: HotlistLookBack): string => id;
const isUnderWay = ({ state }: HotlistLookBack): boolean => state === 'WAITING' || state === 'RUNNING';

const looks: Readonly<Record<HotlistLookBack['state'], Look>> = {
  WAITING: { tone: 'calm', icon: 'time' },
  RUNNING: { tone: 'low', icon: 'search' },
  DONE: { tone: 'good', icon: 'good' },
  CANCELLED: { tone: 'calm', icon: 'close' },
  FAILED: { tone: 'critical', icon: 'failure' },
};

/** The look-backs of a list, with the form that orders one for the entries that a version added. */
export function LookBacks({ list }: { readonly list: Hotlist }) {
  const { t } = useTranslation('hotlists');
  const client = useQueryClient();
  const { sayFailure } = useNotices();
  const again = () => client.invalidateQueries({ queryKey: service.hotlists.getLookBacks.pathKey() });
  const cancel = useMutation({
    mutationFn: ({ id }: HotlistLookBack) => api.hotlists.cancelLookBack.mutate({ id }),
    onError: sayFailure,
    onSettled: again,
  });
  const pages = usePages({
    queryKey: service.hotlists.getLookBacks.queryKey({ id: list.id }),
    load: (page, signal) => api.hotlists.getLookBacks.query({ id: list.id, ...page }, { signal }),
    rows: 'lookBacks',
    keyOf,
    isUnderWay,
  });
  const form = useForm({
    keep: null,
    read: (entered) => ({
      id: list.id,
      version: entered.numberOrNull('version') ?? 0,
      days: entered.numberOrNull('days') ?? 0,
    }),
    save: (input) => api.hotlists.lookBack.mutate(input),
    onSuccess: again,
  });
  return (
    <>
      <form
        ref={form.ref}
        onSubmit={form.submit}
        className="flex flex-col gap-2 border-b px-4 py-3"
        aria-label={t('lookBacks.order')}
      >
        <p className="max-w-prose text-muted">{t('lookBacks.text')}</p>
        <div className="flex flex-wrap items-start gap-3">
          <Field
            label={t('lookBacks.version')}
            name="version"
            inputMode="numeric"
            defaultValue={list.version}
            error={form.errorOf('version')}
            required
          />
          <Field
            label={t('lookBacks.days', { count: MAX_LOOK_BACK_DAYS })}
            name="days"
            inputMode="numeric"
            defaultValue={USUAL_LOOK_BACK_DAYS}
            error={form.errorOf('days')}
            required
          />
          <Button className="mt-6" type="submit" icon="search" disabled={form.isSaving || list.version === 0}>
            {t('lookBacks.order')}
          </Button>
        </div>
        {form.failure && <Failure error={form.failure} />}
      </form>
      <DataTable
        label={t('lookBacks.title')}
        columns={useColumns(cancel.mutate)}
        pages={pages}
        keyOf={keyOf}
        empty={<Empty icon="search" title={t('lookBacks.none')} />}
      />
    </>
  );
}

function useColumns(onCancel: (row: HotlistLookBack) => void): readonly Column<HotlistLookBack>[] {
  const { t, i18n } = useTranslation('hotlists');
  return useMemo(
    () => [
      {
        id: 'state',
        header: t('lookBacks.state'),
        cell: ({ state, error }) => (
          <span className="flex flex-wrap items-center gap-2">
            <Badge {...looks[state]}>{t(`lookBacks.states.${state}`)}</Badge>
            {error && <bdi className="text-critical">{error}</bdi>}
          </span>
        ),
      },
      {
        id: 'kind',
        header: t('lookBacks.kind'),
        notNarrow: true,
        cell: ({ kind, requestedBy }) =>
          kind === 'CHANGE' ? t('lookBacks.afterChange') : <bdi>{requestedBy?.name}</bdi>,
      },
      timeColumn('createdAt', t('lookBacks.createdAt'), ({ createdAt }) => createdAt, {
        from: 'medium',
      }),
      timeColumn('startsAt', t('lookBacks.startsAt'), ({ startsAt }) => startsAt, {
        wideOnly: true,
      }),
      {
        id: 'progress',
        header: t('lookBacks.progress'),
        width: '9rem',
        isFigure: true,
        cell: ({ kind, done, plates }) =>
          kind === 'CHANGE'
            ? done.toLocaleString(i18n.language)
            : `${done.toLocaleString(i18n.language)} / ${plates.toLocaleString(i18n.language)}`,
      },
      figureColumn('hits', t('lookBacks.hits'), ({ hits }) => hits, { width: '7rem' }),
      {
        id: 'cancel',
        header: t('lookBacks.cancel'),
        isHeaderHidden: true,
        width: '8rem',
        cell: (row) =>
          isUnderWay(row) &&
          row.kind === 'REQUESTED' && (
            <Button kind="quiet" icon="close" onClick={() => onCancel(row)}>
              {t('lookBacks.cancel')}
            </Button>
          ),
      },
    ],
    [t, i18n, onCancel],
  );
}
