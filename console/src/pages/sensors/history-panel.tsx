import { DAY_MS, HOUR_MS } from '@gantry/contract/durations';
import type { StatusChange } from '@gantry/contract/sensors';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../shared/service/failure.tsx';
import { api, service } from '../../shared/service/service.ts';
import { SensorStatusBadge, statusLooks } from '../../shared/status/badges.tsx';
import { Moment } from '../../shared/time/moment.tsx';
import { useNow, useTime } from '../../shared/time/use-time.ts';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { availability, type StatusSpan, spansOf, within } from './availability.ts';

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
                <bdi className="line-clamp-2 min-w-40">{reasonText(reason, changedBy !== null)}</bdi>
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

interface StatusStripProps {
  readonly label: string;
  readonly spans: readonly StatusSpan[];
  /** In milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

/** The height of each status, in units of the view box. ONLINE is low and grey; the others stand out by height, too. */
const heights = { ONLINE: 6, MAINTENANCE: 12, OFFLINE: 18, ERROR: 24 } as const;
const HEIGHT = 24;
const WIDTH = 1000;
/** The minimum width of a span, so that short ones remain visible. */
const MIN_WIDTH = 3;

/** A timeline of the status of a sensor. The table of changes has the same data as text. */
function StatusStrip({ label, spans, from, to }: StatusStripProps) {
  const { t } = useTranslation('common');
  const time = useTime();
  const x = (at: number) => ((at - from) / (to - from)) * WIDTH;
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      className="h-6 w-full bg-bg"
    >
      {within(spans, from, to).map((span) => (
        <rect
          key={span.from}
          x={Math.min(x(span.from), WIDTH - MIN_WIDTH)}
          y={HEIGHT - heights[span.status]}
          width={Math.max(MIN_WIDTH, x(span.to) - x(span.from))}
          height={heights[span.status]}
          fill={`var(--${statusLooks[span.status].color})`}
        >
          <title>
            {`${t(`sensorStatus.${span.status}`)} · ${time.dateTime(new Date(span.from))} – ${time.dateTime(new Date(span.to))}`}
          </title>
        </rect>
      ))}
    </svg>
  );
}

const REASONS = {
  registered: 'registered',
  heartbeat: 'heartbeat',
  event: 'event',
  'set by hand': 'byHand',
} as const;
const SILENCE = /^no heartbeat( or event)? for (\d+) seconds?$/;
const ISSUE = /^critical issue: (.*)$/s;

/**
 * Translates the reason of a status change, which the service records in English. Names of issues are kept as they are,
 * and an unknown reason, such as that of a user, is returned unchanged.
 */
function useReasonText(): (reason: string, isOfUser: boolean) => string {
  const { t, i18n } = useTranslation('sensors');
  return (reason, isOfUser) => {
    if (isOfUser && !['registered', 'set by hand'].includes(reason)) return reason;
    if (Object.hasOwn(REASONS, reason))
      return t(`history.reasons.${REASONS[reason as keyof typeof REASONS]}`);
    const [, orEvent, seconds] = SILENCE.exec(reason) ?? [];
    if (seconds !== undefined) {
      const n = Number(seconds).toLocaleString(i18n.language);
      return orEvent === undefined
        ? t('history.reasons.silence', { n })
        : t('history.reasons.fullSilence', { n });
    }
    const [, issues] = ISSUE.exec(reason) ?? [];
    return issues === undefined ? reason : t('history.reasons.issue', { issues: `\u2068${issues}\u2069` });
  };
}

const TAKE = 100;
/** The maximum number of pages that are loaded: a sensor that flaps has thousands of changes. */
const MAX_PAGES = 10;
/** The longest period that the page shows, in milliseconds: 30 days. */
export const HISTORY_MS = 30 * DAY_MS;

interface StatusHistory {
  /** Newest first. Includes the last change before the 30 days, from which the status at their start is known. */
  readonly changes: readonly StatusChange[];
  /** Whether the limit was reached before all changes within the 30 days were loaded. */
  readonly isCut: boolean;
}

/** The status changes of a sensor in the last 30 days. */
function useStatusHistory(id: string) {
  return useQuery({
    queryKey: [...service.sensors.getStatusHistory.queryKey({ id }), 'all'],
    queryFn: ({ signal }) => read(id, signal),
  });
}

async function read(id: string, signal: AbortSignal): Promise<StatusHistory> {
  const changes: StatusChange[] = [];
  const since = Date.now() - HISTORY_MS;
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = await api.sensors.getStatusHistory.query(
      { id, skip: page * TAKE, take: TAKE },
      { signal },
    );
    changes.push(...answer.history);
    const oldest = changes.at(-1);
    if (changes.length >= answer.total || !oldest || oldest.at.getTime() < since) {
      return { changes, isCut: false };
    }
  }
  return { changes, isCut: true };
}
