import { HOUR_MS } from '@gantry/contract/durations';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../shared/service/failure.tsx';
import { SensorStatusBadge } from '../../shared/status/sensor-status.tsx';
import { Moment } from '../../shared/time/moment.tsx';
import { useNow, useTime } from '../../shared/time/use-time.ts';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { availability, spansOf } from './availability.ts';
import { StatusStrip } from './status-strip.tsx';
import { type StatusHistory, useStatusHistory } from './use-history.ts';
import { useReasonText } from './use-reason-text.ts';

const WINDOWS = [
  { name: 'day', ms: 24 * HOUR_MS },
  { name: 'week', ms: 7 * 24 * HOUR_MS },
  { name: 'month', ms: 30 * 24 * HOUR_MS },
] as const;

/** The panel with a sensor's availability, a timeline of its status, and its status changes with their reasons. */
export function HistoryPanel({ id }: { readonly id: string }) {
  const { t } = useTranslation('sensors');
  const { data, error, refetch } = useStatusHistory(id);
  return (
    <Panel title={t('history.title')}>
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!error && !data && <Skeleton rows={3} />}
      {data && <Strips history={data} />}
      {data && <Changes history={data} />}
    </Panel>
  );
}

function Strips({ history: { changes, isCut } }: { readonly history: StatusHistory }) {
  const { t, i18n } = useTranslation('sensors');
  const time = useTime();
  const now = useNow(60_000);
  const spans = spansOf(changes, now);
  const percent = new Intl.NumberFormat(i18n.language, { style: 'percent', maximumFractionDigits: 2 });
  return (
    <div className="flex flex-col gap-3">
      {WINDOWS.map(({ name, ms }) => {
        const share = availability(spans, now - ms, now);
        return (
          <div key={name}>
            <div className="flex items-baseline justify-between gap-2">
              <span className="text-sm text-muted">{t(`history.${name}`)}</span>
              <span className="figures font-semibold">{share === null ? '–' : percent.format(share)}</span>
            </div>
            <div dir="ltr">
              <StatusStrip label={t(`history.${name}`)} spans={spans} from={now - ms} to={now} />
              <div className="figures flex justify-between text-xs text-muted" aria-hidden="true">
                <span>
                  {time.date(new Date(now - ms))} {time.minute(new Date(now - ms))}
                </span>
                <span>{time.minute(new Date(now))}</span>
              </div>
            </div>
          </div>
        );
      })}
      <p className="text-sm text-muted">
        {isCut ? t('history.cut', { n: changes.length }) : t('history.note')}
      </p>
    </div>
  );
}

const FIRST = 8;

function Changes({ history: { changes } }: { readonly history: StatusHistory }) {
  const { t } = useTranslation('sensors');
  const reasonText = useReasonText();
  const [all, setAll] = useState(false);
  const shown = all ? changes : changes.slice(0, FIRST);
  return (
    <section
      aria-label={t('history.changes')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
      tabIndex={0}
      className="mt-3 overflow-x-auto"
    >
      <table className="w-full">
        <caption className="sr-only">{t('history.changes')}</caption>
        <thead>
          <tr className="text-sm text-muted">
            {(['at', 'to', 'reason', 'by'] as const).map((name) => (
              <th key={name} scope="col" className="border-b px-2 py-1 text-start font-medium">
                {t(`history.${name}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(({ at, to, reason, changedBy }) => (
            <tr key={at.getTime() + to}>
              <td className="border-b px-2 py-1">
                <Moment at={at} />
              </td>
              <td className="border-b px-2 py-1">
                <SensorStatusBadge status={to} />
              </td>
              <td className="border-b px-2 py-1">
                <bdi className="line-clamp-2 min-w-40">{reasonText(reason)}</bdi>
              </td>
              <td className="border-b px-2 py-1 whitespace-nowrap">
                <bdi>{changedBy?.name}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {!all && changes.length > FIRST && (
        <Button kind="quiet" className="mt-1" onClick={() => setAll(true)}>
          {t('history.all', { count: changes.length })}
        </Button>
      )}
    </section>
  );
}
