import type { Alarm } from '@gantry/contract/alarms';
import { permissionNames } from '@gantry/contract/permissions';
import { severities } from '@gantry/contract/values';
import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { dateFilters, type Filter } from '../../shared/filters/filter.ts';
import { FilterBar } from '../../shared/filters/filter-bar.tsx';
import { useNotices } from '../../shared/notices/notices.tsx';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { queryClient } from '../../shared/service/queries.ts';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { SeverityBadge } from '../../shared/status/badges.tsx';
import { textColumn, timeColumn } from '../../shared/table/column.tsx';
import { type Column, DataTable } from '../../shared/table/data-table.tsx';
import { ExportButton } from '../../shared/table/export-button.tsx';
import { usePages } from '../../shared/table/pages.ts';
import { usePane } from '../../shared/url/use-pane.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty, NoMatch } from '../../ui/empty.tsx';
import { LinkButton } from '../../ui/links.tsx';
import { SilenceDialog } from './silence-dialog.tsx';

const keyOf = ({ id }: Alarm): string => id;

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
  const { state = 'FIRING', acknowledged, severity, startDate, endDate, sortBy, sortOrder } = search;
  const input = { state, acknowledged, severity, startDate, endDate, sortBy, sortOrder };
  const navigate = useNavigate({ from: '/alarms' });
  const { change, clear } = usePane('/alarms', 'alarm', undefined);
  const [silenced, setSilenced] = useState<Alarm | null>(null);
  const filters = useAlarmFilters();
  const acknowledge = useAcknowledge();
  const columns = useAlarmColumns((alarm) => acknowledge.mutate(alarm), setSilenced);
  const { say } = useNotices();
  const pages = usePages({
    queryKey: service.alarms.getAll.queryKey(input),
    load: (page, signal) => api.alarms.getAll.query({ ...input, ...page }, { signal }),
    rows: 'alarms',
    keyOf,
  });
  const isFiltered = acknowledged !== undefined || severity !== undefined || startDate !== undefined;
  return (
    <>
      <FilterBar filters={filters} values={{ ...input, state }} onChange={change}>
        {pages.total !== null && (
          <span className="figures text-muted">{t('total', { count: pages.total })}</span>
        )}
        <ExportButton title={t('title')} {...{ columns, pages, filters, values: input }} />
      </FilterBar>
      <DataTable
        label={t('title')}
        {...{ columns, pages, keyOf }}
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
            readAgain();
          }}
        />
      )}
    </>
  );
}

function readAgain(): void {
  void queryClient.invalidateQueries({ queryKey: service.alarms.pathKey() });
}

/** Acknowledges one alarm. The list is read again, also after a failure: it shows who was faster. */
function useAcknowledge() {
  const { t } = useTranslation('alarms');
  const { say, sayFailure } = useNotices();
  return useMutation({
    mutationFn: ({ id }: Alarm) => api.alarms.acknowledge.mutate({ id }),
    onSuccess: ({ place, ruleName }) => say(t('acknowledgedOne', { name: place ?? ruleName })),
    onError: (error) => sayFailure(error),
    onSettled: readAgain,
  });
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
      ...dateFilters(t('fields.from'), t('fields.until')),
    ],
    [t],
  );
}

function useAlarmColumns(
  onAcknowledge: (alarm: Alarm) => void,
  onSilence: (alarm: Alarm) => void,
): readonly Column<Alarm>[] {
  const { t } = useTranslation(['alarms', 'common']);
  return [
    {
      id: 'severity',
      header: t('fields.severity'),
      sortBy: 'severity',
      width: '6.5rem',
      csv: ({ severity }) => t(`common:severity.${severity}`),
      cell: ({ severity }) => <SeverityBadge severity={severity} />,
    },
    timeColumn('fired', t('fields.fired'), ({ firedAt, since }) => firedAt ?? since, {
      sortBy: 'firedAt',
      width: '11.5rem',
      from: 'medium',
    }),
    {
      id: 'place',
      header: t('fields.place'),
      csv: ({ place }) => place,
      cell: (alarm) => <AboutLink alarm={alarm} />,
    },
    textColumn('rule', t('fields.rule'), ({ ruleName }) => ruleName),
    textColumn('text', t('fields.text'), ({ text }) => text, { wideOnly: true }),
    textColumn('value', t('fields.value'), ({ value }) => (value === null ? '' : String(value)), {
      width: '6rem',
      wideOnly: true,
    }),
    {
      id: 'state',
      header: t('fields.state'),
      width: '11rem',
      csv: ({ state }) => t(`states.${state}`),
      cell: (alarm) => <StateCell alarm={alarm} />,
    },
    {
      id: 'act',
      header: t('fields.act'),
      isHeaderHidden: true,
      width: '6rem',
      cell: (alarm) => {
        if (alarm.state !== 'FIRING') return null;
        const name = alarm.place ?? alarm.ruleName;
        return (
          <span className="flex">
            {alarm.acknowledgedAt === null && (
              <Button
                kind="quiet"
                icon="acknowledge"
                iconOnly
                aria-label={t('acknowledgeOne', { name })}
                onClick={() => onAcknowledge(alarm)}
              />
            )}
            <Button
              kind="quiet"
              icon="muted"
              iconOnly
              aria-label={t('silence.one', { name })}
              onClick={() => onSilence(alarm)}
            />
          </span>
        );
      },
    },
  ];
}

/** What an alarm is about, as a link to it if it has a page. */
function AboutLink({ alarm }: { readonly alarm: Alarm }) {
  const { sensorId, incidentId, alertId, place, ruleName } = alarm;
  const name = <bdi className="one-line">{place ?? ruleName}</bdi>;
  const look = 'text-accent underline';
  if (incidentId !== null)
    return (
      <Link to="/incidents/$incidentId" params={{ incidentId }} className={look}>
        {name}
      </Link>
    );
  if (alertId !== null)
    return (
      <Link to="/watchlist" search={{ alert: alertId }} className={look}>
        {name}
      </Link>
    );
  if (sensorId !== null)
    return (
      <Link to="/sensors/$sensorId" params={{ sensorId }} className={look}>
        {name}
      </Link>
    );
  return name;
}

function StateCell({ alarm }: { readonly alarm: Alarm }) {
  const { t } = useTranslation('alarms');
  const { state, acknowledgedBy, silencedBy, inhibitedBy, isFlapping } = alarm;
  if (state === 'CLEARED')
    return (
      <Badge tone="calm" icon="good">
        {t('states.CLEARED')}
      </Badge>
    );
  if (silencedBy !== null || inhibitedBy !== null)
    return (
      <Badge tone="calm" icon="muted">
        {t(silencedBy === null ? `causes.${inhibitedBy?.cause ?? 'ALARM'}` : 'silenced')}
      </Badge>
    );
  if (acknowledgedBy)
    return (
      <Badge tone="calm" icon="acknowledge">
        <bdi className="one-line">{acknowledgedBy.name}</bdi>
      </Badge>
    );
  return (
    <Badge tone={state === 'PENDING' ? 'low' : 'high'} icon={state === 'PENDING' ? 'time' : 'alert'}>
      {t(isFlapping ? 'flapping' : `states.${state}`)}
    </Badge>
  );
}
