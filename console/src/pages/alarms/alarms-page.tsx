import type { Alarm } from '@gantry/contract/alarms';
import { permissionNames } from '@gantry/contract/permissions';
import { severities } from '@gantry/contract/values';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import {
  AcknowledgeAlarm,
  AlarmLink,
  AlarmState,
  alarmName,
  pageOfAlarm,
  readAlarmsAgain,
  useAcknowledgeAlarm,
} from '../../shared/alarms/alarm-parts.tsx';
import { dateFilters, type Filter } from '../../shared/filters/filter.ts';
import { FilterBar } from '../../shared/filters/filter-bar.tsx';
import { useNotices } from '../../shared/notices/notices.tsx';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { SeverityBadge } from '../../shared/status/badges.tsx';
import { figureColumn, SecondLine, textColumn, timeColumn } from '../../shared/table/column.tsx';
import { type Column, DataTable } from '../../shared/table/data-table.tsx';
import { ExportButton } from '../../shared/table/export-button.tsx';
import { usePages } from '../../shared/table/pages.ts';
import { useCursor } from '../../shared/table/use-cursor.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { usePane } from '../../shared/url/use-pane.ts';
import { Button } from '../../ui/button.tsx';
import { Empty, NoMatch } from '../../ui/empty.tsx';
import { LinkButton } from '../../ui/links.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { SilenceDialog } from './silence-dialog.tsx';

const keyOf = ({ id }: Alarm): string => id;
const firedAt = ({ firedAt, since }: Alarm): Date => firedAt ?? since;

/** The alarms: the most urgent first, then the oldest that nobody acknowledged. */
export function AlarmsPage() {
  const { t } = useTranslation('alarms');
  const maySet = useMay('systemSettings');
  if (!useMay('manageIncidents')) return <NotAllowed permission={permissionNames.manageIncidents} />;
  return (
    <>
      <PageHeader title={t('title')}>
        {maySet && (
          <LinkButton to="/administration/alarms" icon="settings">
            {t('rules')}
          </LinkButton>
        )}
      </PageHeader>
      <Alarms />
    </>
  );
}

function Alarms() {
  const { t } = useTranslation('alarms');
  const search = useSearch({ from: '/shell/alarms' });
  const { state = 'FIRING', ...rest } = search;
  const input = { ...rest, state };
  const navigate = useNavigate({ from: '/alarms' });
  const { change, clear } = usePane('/alarms', 'alarm', undefined);
  const [silenced, setSilenced] = useState<Alarm | null>(null);
  const filters = useAlarmFilters();
  const columns = useAlarmColumns(setSilenced);
  const files = [...columns, ...useFileColumns()];
  const { say } = useNotices();
  const pages = usePages({
    queryKey: service.alarms.getAll.queryKey(input),
    load: (page, signal) => api.alarms.getAll.query({ ...input, ...page }, { signal }),
    rows: 'alarms',
    keyOf,
  });
  const activeKey = useAlarmKeys(pages.rows, setSilenced);
  const { sortBy, sortOrder, ...filtered } = rest;
  const isFiltered = Object.values(filtered).some((each) => each !== undefined);
  return (
    <>
      <FilterBar filters={filters} values={{ ...input, state }} onChange={change}>
        {pages.total !== null && (
          <span className="figures text-muted">{t('total', { count: pages.total })}</span>
        )}
        <ExportButton title={t('title')} {...{ columns: files, pages, filters, values: input }} />
      </FilterBar>
      <DataTable
        label={t('title')}
        {...{ columns, pages, keyOf, activeKey }}
        sort={{ by: sortBy ?? 'severity', order: sortOrder ?? 'desc' }}
        onSort={({ by, order }) =>
          void navigate({
            search: (former) => ({ ...former, sortBy: by === 'firedAt' ? by : undefined, sortOrder: order }),
          })
        }
        isDone={({ state: is }) => is === 'CLEARED'}
        empty={
          isFiltered ? (
            <NoMatch title={t('noMatch')} onClear={clear} />
          ) : (
            <Empty icon="good" title={t('none')}>
              {t('noneText')}
            </Empty>
          )
        }
      />
      {silenced && (
        <SilenceDialog
          alarm={silenced}
          onClose={() => setSilenced(null)}
          onDone={() => {
            setSilenced(null);
            say(t('silence.done'));
            readAlarmsAgain();
          }}
        />
      )}
    </>
  );
}

/**
 * The keys of the list: they move a cursor, open what the alarm at the cursor is about, acknowledge the alarm and
 * silence it.
 * @returns the key of the alarm at the cursor
 */
function useAlarmKeys(rows: readonly Alarm[], onSilence: (alarm: Alarm) => void): string | null {
  const { t } = useTranslation('alarms');
  const navigate = useNavigate();
  const [activeKey, setActive] = useState<string | null>(null);
  const { acknowledge } = useAcknowledgeAlarm();
  const open = (alarm: Alarm) => {
    const page = pageOfAlarm(alarm);
    if (page !== null) void navigate(page);
  };
  const onMove = ({ id }: Alarm) => setActive(id);
  const { active, next } = useCursor({ rows, keyOf, activeKey, onMove, onOpen: open });
  // What was acknowledged moves to the end of the list, and the cursor does not follow it there.
  const acknowledgeActive = () => {
    if (active && acknowledge(active) && next) onMove(next);
  };
  useShortcuts([
    { keys: '1', label: t('acknowledge'), scope: 'page', run: acknowledgeActive },
    {
      keys: '2',
      label: t('silence.title'),
      scope: 'page',
      run: () => active?.state === 'FIRING' && onSilence(active),
    },
  ]);
  return activeKey;
}

function useAlarmFilters(): readonly Filter[] {
  const { t } = useTranslation(['alarms', 'common']);
  return useMemo<readonly Filter[]>(
    () => [
      {
        kind: 'choice',
        name: 'state',
        label: t('fields.state'),
        options: (['FIRING', 'CLEARED', 'PENDING'] as const).map((value) => ({
          value,
          label: t(`states.${value}`),
        })),
      },
      {
        kind: 'choice',
        name: 'severity',
        label: t('fields.severity'),
        options: severities.map((value) => ({ value, label: t(`common:severity.${value}`) })),
      },
      {
        kind: 'yesNo',
        name: 'acknowledged',
        label: t('fields.acknowledged'),
        yes: t('acknowledged'),
        no: t('open'),
      },
      {
        kind: 'yesNo',
        name: 'suppressed',
        label: t('fields.suppressed'),
        yes: t('suppressed'),
        no: t('told'),
      },
      ...dateFilters(t('fields.from'), t('fields.until')),
    ],
    [t],
  );
}

function useAlarmColumns(onSilence: (alarm: Alarm) => void): readonly Column<Alarm>[] {
  const { t, i18n } = useTranslation(['alarms', 'common']);
  return [
    {
      id: 'severity',
      header: t('fields.severity'),
      sortBy: 'severity',
      width: '6.5rem',
      csv: ({ severity }) => t(`common:severity.${severity}`),
      cell: (alarm) => (
        <>
          <SeverityBadge severity={alarm.severity} />
          <SecondLine notNarrow>
            <AlarmState alarm={alarm} />
          </SecondLine>
        </>
      ),
    },
    timeColumn('fired', t('fields.fired'), firedAt, { sortBy: 'firedAt', wideOnly: true }),
    {
      id: 'place',
      header: t('fields.place'),
      csv: ({ place }) => place,
      cell: (alarm) => (
        <>
          <span className="one-line block [&_a]:py-0">
            <AlarmLink alarm={alarm} />
          </span>
          <span className="flex gap-1 text-xs leading-tight! text-muted">
            {alarm.place !== null && (
              <span className="one-line leading-tight!">
                <bdi>{alarm.ruleName}</bdi>
              </span>
            )}
            <span className="shrink-0 @5xl:hidden">
              <Moment at={firedAt(alarm)} as="ago" />
            </span>
          </span>
        </>
      ),
    },
    {
      id: 'text',
      header: t('fields.text'),
      from: 'medium',
      csv: ({ text }) => text,
      cell: ({ text, value }) => (
        // Two lines of a row, as the texts are sentences.
        <span className="line-clamp-2 text-sm leading-tight! whitespace-normal">
          <bdi lang="en">{text}</bdi>
          {value !== null && (
            <span className="figures text-muted"> · {value.toLocaleString(i18n.language)}</span>
          )}
        </span>
      ),
    },
    {
      id: 'state',
      header: t('fields.state'),
      width: '10.5rem',
      notNarrow: true,
      csv: ({ state }) => t(`states.${state}`),
      cell: (alarm) => <AlarmState alarm={alarm} />,
    },
    {
      id: 'act',
      header: t('fields.act'),
      isHeaderHidden: true,
      width: '6rem',
      cell: (alarm) =>
        alarm.state === 'FIRING' && (
          <span className="flex justify-end">
            <AcknowledgeAlarm alarm={alarm} />
            <Button
              kind="quiet"
              icon="muted"
              iconOnly
              aria-label={t('silence.one', { name: alarmName(alarm) })}
              onClick={() => onSilence(alarm)}
            />
          </span>
        ),
    },
  ];
}

/** What files have beside the columns of the table, where it is part of another column. */
function useFileColumns(): readonly Column<Alarm>[] {
  const { t } = useTranslation('alarms');
  return [
    textColumn('rule', t('fields.rule'), ({ ruleName }) => ruleName),
    figureColumn('value', t('fields.value'), ({ value }) => value),
  ];
}
