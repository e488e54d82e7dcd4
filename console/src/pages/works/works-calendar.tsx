import type { WorksWindow } from '@gantry/contract/works';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { whereOf } from '../../shared/places/works.ts';
import { moved } from '../../shared/range/days.ts';
import { useToday } from '../../shared/range/range-picker.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { service } from '../../shared/service/service.ts';
import { useServiceTime } from '../../shared/time/use-time.ts';
import { useTimeSettings } from '../../shared/time/zone.ts';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { WindowBadge } from './parts.tsx';

const DAYS = 7;
/** A week in which clocks are set back has an hour more. */
const WEEK_HOURS = DAYS * 24 + 3;

const plus = (day: string, days: number): string => moved({ startDate: day, endDate: day }, days).startDate;

/** The first day of the week of a day. @param firstDay 0 Sunday … 6 Saturday */
function weekOf(day: string, firstDay: number): string {
  const weekday = new Date(`${day}T00:00:00Z`).getUTCDay();
  return plus(day, -((weekday - firstDay + DAYS) % DAYS));
}

/** The windows of works in one week, by day. `[` and `]` show the week before and the one after. */
export function WorksCalendar() {
  const today = useToday();
  const { firstDayOfWeek } = useTimeSettings();
  return today === null ? <Skeleton rows={8} /> : <Week today={today} firstDay={firstDayOfWeek} />;
}

function Week({ today, firstDay }: { readonly today: string; readonly firstDay: number }) {
  const { t, i18n } = useTranslation('works');
  const { week = today } = useSearch({ from: '/shell/works' });
  const navigate = useNavigate({ from: '/works' });
  const first = weekOf(week, firstDay);
  const show = (day: string) =>
    void navigate({ search: (all) => ({ ...all, week: day === weekOf(today, firstDay) ? undefined : day }) });
  useShortcuts([
    { keys: '[', label: t('calendar.before'), scope: 'page', run: () => show(plus(first, -DAYS)) },
    { keys: ']', label: t('calendar.after'), scope: 'page', run: () => show(plus(first, DAYS)) },
  ]);
  const { data, error, refetch } = useQuery(
    service.works.getWindows.queryOptions({ startDate: first, hours: WEEK_HOURS, drafts: true }),
  );
  const days = Array.from({ length: DAYS }, (_, n) => plus(first, n));
  const range = new Intl.DateTimeFormat(i18n.language, { dateStyle: 'long', timeZone: 'UTC' });
  const utc = (day: string) => new Date(`${day}T00:00:00Z`);
  return (
    <div className="flex min-h-0 grow flex-col gap-3 overflow-y-auto p-4">
      <div className="flex flex-wrap items-center gap-2">
        <Button
          icon="previous"
          iconOnly
          aria-label={t('calendar.before')}
          onClick={() => show(plus(first, -DAYS))}
        />
        <Button
          icon="next"
          iconOnly
          aria-label={t('calendar.after')}
          onClick={() => show(plus(first, DAYS))}
        />
        <Button onClick={() => show(weekOf(today, firstDay))}>{t('calendar.today')}</Button>
        <h2 className="font-semibold">{range.formatRange(utc(first), utc(plus(first, DAYS - 1)))}</h2>
      </div>
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton rows={8} />}
      {data && (
        <ol className="grid gap-2 lg:grid-cols-7">
          {days.map((day) => (
            <Day key={day} day={day} isToday={day === today} windows={data.windows} />
          ))}
        </ol>
      )}
      {data?.hasMore && <p className="text-muted">{t('calendar.more')}</p>}
    </div>
  );
}

interface DayProps {
  readonly day: string;
  readonly isToday: boolean;
  /** Those of the week. */
  readonly windows: readonly WorksWindow[];
}

function Day({ day, isToday, windows }: DayProps) {
  const { t, i18n } = useTranslation('works');
  const time = useServiceTime();
  const name = new Intl.DateTimeFormat(i18n.language, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  });
  // A window that ends at midnight is not on the next day.
  const here = windows.filter(
    ({ from, until }) => time.isoDay(from) <= day && time.isoDay(new Date(until.getTime() - 1)) >= day,
  );
  return (
    <li className={classes('min-w-0 rounded-md border bg-surface', isToday && 'border-accent')}>
      <h3 className={classes('border-b px-2 py-1 text-sm', isToday ? 'font-semibold' : 'text-muted')}>
        {name.format(new Date(`${day}T00:00:00Z`))}
      </h3>
      {here.length === 0 ? (
        <p className="px-2 py-1.5 text-sm text-muted">{t('calendar.nothing')}</p>
      ) : (
        <ul>
          {here.map((window) => (
            <li key={`${window.worksId} ${window.from.getTime()}`} className="border-b last:border-b-0">
              <Entry day={day} window={window} />
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

function Entry({ day, window }: { readonly day: string; readonly window: WorksWindow }) {
  const { t } = useTranslation('works');
  const time = useServiceTime();
  const { worksId, title, from, until, state, worksState } = window;
  const begins = time.isoDay(from) === day ? time.minute(from) : '…';
  const ends = time.isoDay(until) === day ? time.minute(until) : '…';
  return (
    <Link
      to="/works/$worksId"
      params={{ worksId }}
      className="flex min-h-9 flex-col px-2 py-1 text-sm hover:bg-hover pointer-coarse:min-h-11"
    >
      <span className="figures text-muted" dir="ltr">
        {begins} – {ends}
      </span>
      <bdi className="wrap-anywhere">{title}</bdi>
      {whereOf(window) !== '' && <bdi className="text-muted">{whereOf(window)}</bdi>}
      {worksState === 'DRAFT' ? (
        <span className="text-medium">{t('states.DRAFT')}</span>
      ) : (
        state !== 'PLANNED' && <WindowBadge state={state} />
      )}
    </Link>
  );
}
