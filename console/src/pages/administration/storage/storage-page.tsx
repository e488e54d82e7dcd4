import type { StorageStats } from '@gantry/contract/storage';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { sizeText } from '../../../shared/locale/size-text.ts';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { service } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { Facts, Panel } from '../../../ui/panel.tsx';
import { ScrolledTable } from '../../../ui/scrolled-table.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { useRemovalText } from './preview-dialog.tsx';
import { RulesPanel } from './rules-panel.tsx';
import { RunsPanel } from './runs-panel.tsx';

/** The storage page: what is stored, the retention rules, and the retention runs. */
export function StoragePage() {
  const { t } = useTranslation('administration');
  return (
    <>
      <PageHeader title={t('storage.title')} />
      <div className="min-h-0 grow overflow-y-auto px-4 py-3">
        <div className="grid items-start gap-3 xl:grid-cols-2">
          <StatsPanel />
          <RulesPanel />
          <RunsPanel />
        </div>
      </div>
    </>
  );
}

/** The free space of a disk is shown as a warning below this share. */
const LITTLE = 0.1;

/** What is stored, and how much space it uses. */
function StatsPanel() {
  const { t } = useTranslation('administration');
  const { data, error, refetch } = useQuery(service.storage.getStats.queryOptions());
  return (
    <Panel title={t('storage.stored')}>
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton rows={8} />}
      {data && <Stats stats={data} />}
    </Panel>
  );
}

function Stats({ stats }: { readonly stats: StorageStats }) {
  const { t, i18n } = useTranslation('administration');
  const removalText = useRemovalText();
  const { databaseBytes, eventCount, oldestEvent, newestEvent, images, reports, disk, nextRemoval } = stats;
  const number = (n: number) => n.toLocaleString(i18n.language);
  const size = (bytes: number) => sizeText(bytes, i18n.language);
  return (
    <div className="flex flex-col gap-4">
      <dl className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        <Figure name={t('storage.events')} value={number(eventCount)} />
        <Figure name={t('storage.database')} value={size(databaseBytes)} />
        <Figure
          name={t('storage.images')}
          value={number(images.count)}
          note={images.count > 0 ? size(images.bytes) : ''}
        />
        <Figure
          name={t('storage.reports')}
          value={number(reports.count)}
          note={reports.count > 0 ? size(reports.bytes) : ''}
        />
      </dl>
      {disk && <Disk disk={disk} size={size} />}
      <Facts
        facts={[
          [t('storage.oldest'), oldestEvent && <Moment key="oldest" at={oldestEvent} />],
          [t('storage.newest'), newestEvent && <Moment key="newest" at={newestEvent} />],
          [
            t('storage.next'),
            nextRemoval ? (
              <span key="next">
                <Moment at={nextRemoval.at} /> · {removalText(nextRemoval)}
              </span>
            ) : (
              t('storage.keptForever')
            ),
          ],
        ]}
      />
      <MonthTable months={stats.months} size={size} />
    </div>
  );
}

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
}

function Figure({ name, value, note }: FigureProps) {
  return (
    <div className="flex flex-col">
      <dt className="text-sm text-muted">{name}</dt>
      <dd className="figures text-xl font-semibold">
        {value} {note !== undefined && <span className="text-base font-normal text-muted">{note}</span>}
      </dd>
    </div>
  );
}

interface DiskProps {
  readonly disk: NonNullable<StorageStats['disk']>;
  readonly size: (bytes: number) => string;
}

function Disk({ disk, size }: DiskProps) {
  const { t } = useTranslation('administration');
  const { totalBytes, freeBytes } = disk;
  return (
    <div className="flex flex-col gap-1">
      <p className="flex flex-wrap justify-between gap-x-4">
        <span>{t('storage.disk')}</span>
        {freeBytes < totalBytes * LITTLE ? (
          <Badge tone="high" icon="high">
            {t('storage.diskLittle', { free: size(freeBytes), total: size(totalBytes) })}
          </Badge>
        ) : (
          <span className="figures text-muted">
            {t('storage.diskFree', { free: size(freeBytes), total: size(totalBytes) })}
          </span>
        )}
      </p>
      <Bar share={1 - freeBytes / totalBytes} />
    </div>
  );
}

interface MonthTableProps {
  readonly months: StorageStats['months'];
  readonly size: (bytes: number) => string;
}

/** The number of events of each month that has any, with a bar, and their size. */
function MonthTable({ months, size }: MonthTableProps) {
  const { t, i18n } = useTranslation('administration');
  const shown = months.filter(({ events }) => events > 0);
  if (shown.length === 0) return null;
  const most = Math.max(...shown.map(({ events }) => events));
  return (
    <ScrolledTable
      label={t('storage.months')}
      head="bg-surface"
      rows={shown}
      keyOf={({ month }) => month}
      columns={[
        { header: t('storage.month'), isLeftToRight: true, cell: ({ month }) => month },
        {
          header: t('storage.share'),
          hideHeader: true,
          shown: 'w-1/2 max-sm:hidden',
          cell: ({ events }) => <Bar share={events / most} />,
        },
        {
          header: t('storage.events'),
          isFigure: true,
          cell: ({ events }) => events.toLocaleString(i18n.language),
        },
        {
          header: t('storage.size'),
          isFigure: true,
          className: 'text-muted',
          cell: ({ bytes }) => bytes !== null && size(bytes),
        },
      ]}
    />
  );
}

/** A bar that shows a share, from 0 to 1. Hidden from screen readers, because a figure next to it says the same. */
function Bar({ share }: { readonly share: number }) {
  const percent = Math.max(0, Math.min(1, Number.isFinite(share) ? share : 0)) * 100;
  return (
    <div aria-hidden="true" className="h-2 w-full overflow-hidden rounded bg-hover">
      <div className="h-full rounded bg-line-strong" style={{ width: `${percent}%` }} />
    </div>
  );
}
