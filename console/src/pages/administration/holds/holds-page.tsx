import type { LegalHold } from '@gantry/contract/storage';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isConflict, useFasterText } from '../../../shared/conflict/faster.tsx';
import type { Filter } from '../../../shared/filters/filter.ts';
import { FilterBar } from '../../../shared/filters/filter-bar.tsx';
import { ConfirmDialog } from '../../../shared/form/form-dialog.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { figureColumn, textColumn, timeColumn } from '../../../shared/table/column.tsx';
import { type Column, DataTable } from '../../../shared/table/data-table.tsx';
import { ExportButton } from '../../../shared/table/export-button.tsx';
import { usePages } from '../../../shared/table/pages.ts';
import { columnsBeside, ListAndPane, SidePane } from '../../../shared/table/side-pane.tsx';
import { useCursor } from '../../../shared/table/use-cursor.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { usePane } from '../../../shared/url/use-pane.ts';
import { Button } from '../../../ui/button.tsx';
import { Empty, NoMatch } from '../../../ui/empty.tsx';
import { Facts, Panel } from '../../../ui/panel.tsx';
import { useShortcuts } from '../../../ui/shortcuts.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { StateBadge } from '../state-badge.tsx';
import { refreshStorage } from '../storage/refresh.ts';
import { HoldDialog } from './hold-dialog.tsx';

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
      timeColumn('at', t('holds.at'), ({ createdAt }) => createdAt, { wideOnly: true }),
    ],
    [t],
  );
}

/** Number of events that are listed until the user asks for all. */
const SHOWN = 20;

/** A legal hold with its events. */
function HoldPane({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { t, i18n } = useTranslation('administration');
  const { say } = useNotices();
  const fasterText = useFasterText();
  const [releases, setReleases] = useState(false);
  const [isAll, setAll] = useState(false);
  const { data: hold, error, refetch } = useQuery(service.storage.getHold.queryOptions({ id }));
  const n = hold?.eventCount.toLocaleString(i18n.language) ?? '';
  return (
    <SidePane label={t('holds.details')} title={t('holds.details')} onClose={onClose}>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!hold && !error && <Skeleton rows={6} />}
      {hold && (
        <>
          <p className="max-h-48 shrink-0 overflow-y-auto whitespace-pre-wrap">
            <bdi>{hold.reason}</bdi>
          </p>
          <Facts
            facts={[
              [
                t('holds.state'),
                <StateBadge key="state" state={hold.releasedAt ? 'holds.released' : 'holds.active'} />,
              ],
              [t('holds.at'), <Moment key="at" at={hold.createdAt} />],
              [t('holds.by'), hold.createdBy && <bdi key="by">{hold.createdBy.name}</bdi>],
              [t('holds.releasedAt'), hold.releasedAt && <Moment key="until" at={hold.releasedAt} />],
              [t('holds.releasedBy'), hold.releasedBy && <bdi key="who">{hold.releasedBy.name}</bdi>],
            ]}
          />
          {!hold.releasedAt && (
            <Button kind="danger" className="self-start" onClick={() => setReleases(true)}>
              {t('holds.release')}
            </Button>
          )}
          <Panel title={t('holds.events', { count: hold.eventCount, n })} isFull>
            <ul>
              {hold.eventIds.slice(0, isAll ? undefined : SHOWN).map((eventId) => (
                <li key={eventId} className="border-b px-3 py-1.5 last:border-b-0">
                  <Link to="/events" search={{ event: eventId }} className="text-accent underline">
                    <bdi className="font-mono text-sm">{eventId}</bdi>
                  </Link>
                </li>
              ))}
            </ul>
            {!isAll && hold.eventIds.length > SHOWN && (
              <Button kind="quiet" onClick={() => setAll(true)}>
                {t('holds.showAll')}
              </Button>
            )}
          </Panel>
          {releases && (
            <ConfirmDialog
              title={t('holds.releaseTitle')}
              action={t('holds.release')}
              run={() =>
                api.storage.releaseHold.mutate({ id }).catch(async (error: unknown) => {
                  if (!isConflict(error)) throw error;
                  const { releasedAt, releasedBy } = await api.storage.getHold.query({ id });
                  void refreshStorage();
                  if (!releasedAt) throw error;
                  throw new Error(fasterText({ what: 'released', who: releasedBy?.name, at: releasedAt }));
                })
              }
              onDone={() => {
                setReleases(false);
                say(t('holds.wasReleased'));
                void refreshStorage();
              }}
              onClose={() => setReleases(false)}
            >
              <p>{t('holds.releaseText', { count: hold.eventCount, n })}</p>
            </ConfirmDialog>
          )}
        </>
      )}
    </SidePane>
  );
}
