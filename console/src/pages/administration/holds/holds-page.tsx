import type { LegalHold } from '@gantry/contract/storage';
import { useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Filter } from '../../../shared/filters/filter.ts';
import { FilterBar } from '../../../shared/filters/filter-bar.tsx';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { figureColumn, textColumn, timeColumn } from '../../../shared/table/column.tsx';
import { type Column, DataTable } from '../../../shared/table/data-table.tsx';
import { ExportButton } from '../../../shared/table/export-button.tsx';
import { usePages } from '../../../shared/table/pages.ts';
import { columnsBeside, ListAndPane } from '../../../shared/table/side-pane.tsx';
import { useCursor } from '../../../shared/table/use-cursor.ts';
import { usePane } from '../../../shared/url/use-pane.ts';
import { Button } from '../../../ui/button.tsx';
import { Empty, NoMatch } from '../../../ui/empty.tsx';
import { useShortcuts } from '../../../ui/shortcuts.tsx';
import { StateBadge } from '../state-badge.tsx';
import { HoldDialog } from './hold-dialog.tsx';
import { HoldPane } from './hold-pane.tsx';

const keyOf = ({ id }: LegalHold): string => id;

/** The legal holds, with the details of the selected one. */
export function HoldsPage() {
  const { t } = useTranslation('administration');
  const { hold: openId, ...input } = useSearch({ from: '/shell/administration/holds' });
  const [sets, setSets] = useState(false);
  const { change, open, close, clear } = usePane('/administration/holds', 'hold', openId);
  const filters = useMemo<readonly Filter[]>(
    () => [
      {
        kind: 'yesNo',
        name: 'released',
        label: t('holds.state'),
        yes: t('holds.released'),
        no: t('holds.active'),
      },
      { kind: 'text', name: 'eventId', label: t('holds.eventId') },
    ],
    [t],
  );
  const columns = useHoldColumns();
  const pages = usePages({
    queryKey: service.storage.getHolds.queryKey(input),
    load: (page, signal) => api.storage.getHolds.query({ ...input, ...page }, { signal }),
    rows: 'holds',
    keyOf,
  });
  useCursor({ rows: pages.rows, keyOf, activeKey: openId, onMove: open });
  useShortcuts([{ keys: 'n', label: t('holds.set'), scope: 'page', run: () => setSets(true) }]);
  const isFiltered = Object.keys(input).length > 0;
  const set = (
    <Button kind="primary" icon="hold" onClick={() => setSets(true)}>
      {t('holds.set')}
    </Button>
  );
  return (
    <>
      <PageHeader
        title={t('holds.title')}
        note={pages.total !== null && t('holds.total', { count: pages.total })}
      >
        <ExportButton title={t('holds.title')} {...{ columns, pages, filters, values: input }} />
        {(isFiltered || pages.rows.length > 0) && set}
      </PageHeader>
      <FilterBar filters={filters} values={input} onChange={change} />
      <ListAndPane
        list={
          <DataTable
            label={t('holds.title')}
            columns={columnsBeside(columns, openId !== undefined, ['by', 'at'])}
            pages={pages}
            keyOf={keyOf}
            activeKey={openId ?? null}
            onActivate={open}
            empty={
              isFiltered ? (
                <NoMatch title={t('holds.noMatch')} onClear={clear} />
              ) : (
                <Empty icon="hold" title={t('holds.none')} action={set}>
                  {t('holds.noneText')}
                </Empty>
              )
            }
          />
        }
        pane={openId && <HoldPane key={openId} id={openId} onClose={close} />}
      />
      {sets && (
        <HoldDialog
          onClose={() => setSets(false)}
          onSet={(hold) => {
            setSets(false);
            open(hold);
          }}
        />
      )}
    </>
  );
}

function useHoldColumns(): readonly Column<LegalHold>[] {
  const { t } = useTranslation('administration');
  return useMemo(
    () => [
      textColumn('reason', t('holds.reason'), ({ reason }) => reason),
      {
        id: 'state',
        header: t('holds.state'),
        width: '8rem',
        csv: ({ releasedAt }) => t(releasedAt ? 'holds.released' : 'holds.active'),
        cell: ({ releasedAt }) => <StateBadge state={releasedAt ? 'holds.released' : 'holds.active'} />,
      },
      figureColumn('events', t('storage.events'), ({ eventCount }) => eventCount, { width: '6rem' }),
      textColumn('by', t('holds.by'), ({ createdBy }) => createdBy?.name, { width: '12rem', wideOnly: true }),
      timeColumn('at', t('holds.at'), ({ createdAt }) => createdAt, { width: '11.5rem', wideOnly: true }),
    ],
    [t],
  );
}
