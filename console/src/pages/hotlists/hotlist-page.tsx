import type { HotlistEntry } from '@gantry/contract/hotlists';
import { permissionNames } from '@gantry/contract/permissions';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../shared/form/form.ts';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { PlatesHidden } from '../../shared/service/plates.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { textColumn } from '../../shared/table/column.tsx';
import { type Column, DataTable } from '../../shared/table/data-table.tsx';
import { usePages } from '../../shared/table/pages.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Field } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ImportPanel } from './import-panel.tsx';

const keyOf = ({ id }: HotlistEntry): string => id;

/** One hotlist: its entries, and the imports of files. */
export function HotlistPage() {
  return useMay('manageHotlists') ? <List /> : <NotAllowed permission={permissionNames.manageHotlists} />;
}

function List() {
  const { t } = useTranslation('hotlists');
  const { hotlistId } = useParams({ from: '/shell/hotlists/$hotlistId' });
  const { data: list, error } = useQuery(service.hotlists.getById.queryOptions({ id: hotlistId }));
  const pages = usePages({
    queryKey: service.hotlists.getEntries.queryKey({ hotlistId }),
    load: (page, signal) => api.hotlists.getEntries.query({ hotlistId, ...page }, { signal }),
    rows: 'entries',
    keyOf,
  });
  const end = useEnd(hotlistId);
  const columns = useColumns(end.mutate);
  if (error) return <Failure error={error} />;
  return (
    <>
      <PageHeader
        title={list?.name ?? t('title')}
        note={list && `${t('fields.version')} ${list.version} · ${t('entries', { count: list.entryCount })}`}
      >
        <Link to="/hotlists" className="text-accent underline">
          {t('title')}
        </Link>
      </PageHeader>
      <PlatesHidden />
      {list?.sourceProblem && <p className="px-4 py-2 text-critical">{list.sourceProblem}</p>}
      <div className="flex min-h-0 grow flex-col lg:flex-row">
        <div className="flex min-h-0 min-w-0 grow flex-col">
          <DataTable
            label={t('fields.entries')}
            columns={columns}
            pages={pages}
            keyOf={keyOf}
            activeKey={null}
            onActivate={() => undefined}
            empty={<Empty icon="watchlist" title={t('noEntries')} />}
          />
          {end.error && <Failure error={end.error} />}
        </div>
        <aside className="flex shrink-0 flex-col gap-3 overflow-y-auto border-t p-4 lg:w-[28rem] lg:border-s lg:border-t-0">
          <NewEntry hotlistId={hotlistId} />
          {list && <ImportPanel list={list} />}
        </aside>
      </div>
    </>
  );
}

/** Takes a plate off the list. */
function useEnd(hotlistId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => api.hotlists.endEntry.mutate({ id, hotlistId }),
    onSettled: () => client.invalidateQueries({ queryKey: service.hotlists.pathKey() }),
  });
}

function useColumns(onEnd: (id: string) => void): readonly Column<HotlistEntry>[] {
  const { t } = useTranslation('hotlists');
  return useMemo(
    () => [
      textColumn('plate', t('fields.plate'), ({ plate }) => plate, {
        className: 'font-mono',
        width: '10rem',
      }),
      textColumn('region', t('fields.region'), ({ region }) => region, { width: '6rem', from: 'medium' }),
      textColumn('reason', t('fields.reason'), ({ reason }) => reason),
      textColumn('reference', t('fields.reference'), ({ reference }) => reference, { wideOnly: true }),
      {
        id: 'validUntil',
        header: t('fields.validUntil'),
        csv: ({ validUntil }) => validUntil,
        width: '9rem',
        wideOnly: true,
        cell: ({ validUntil }) => validUntil && <Moment at={validUntil} />,
      },
      {
        id: 'end',
        header: t('end'),
        isHeaderHidden: true,
        width: '3rem',
        cell: ({ id, plate }) => (
          <Button
            kind="quiet"
            icon="delete"
            iconOnly
            aria-label={`${t('end')} ${plate}`}
            onClick={() => onEnd(id)}
          />
        ),
      },
    ],
    [t, onEnd],
  );
}

function NewEntry({ hotlistId }: { readonly hotlistId: string }) {
  const { t } = useTranslation('hotlists');
  const client = useQueryClient();
  // A new form is empty.
  const [added, setAdded] = useState(0);
  const form = useForm({
    keep: `new entry of hotlist ${hotlistId}`,
    read: (entered) => ({
      hotlistId,
      plate: entered.text('plate'),
      region: entered.textOrNull('region'),
      reason: entered.text('reason'),
      reference: entered.textOrNull('reference'),
    }),
    save: (input) => api.hotlists.addEntry.mutate(input),
    onSuccess: () => {
      setAdded((count) => count + 1);
      return client.invalidateQueries({ queryKey: service.hotlists.pathKey() });
    },
  });
  return (
    <Panel title={t('add')}>
      <form key={added} ref={form.ref} onSubmit={form.submit} className="flex flex-col gap-2">
        <Field label={t('fields.plate')} name="plate" error={form.errorOf('plate')} required />
        <Field label={t('fields.region')} name="region" error={form.errorOf('region')} />
        <Field label={t('fields.reason')} name="reason" error={form.errorOf('reason')} required />
        <Field label={t('fields.reference')} name="reference" error={form.errorOf('reference')} />
        {form.failure && <Failure error={form.failure} />}
        <Button kind="primary" type="submit" icon="add" disabled={form.isSaving}>
          {t('add')}
        </Button>
      </form>
    </Panel>
  );
}
