import { DAY_MS } from '@gantry/contract/durations';
import type { TimezoneSettings } from '@gantry/contract/system';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../../shared/form/form-dialog.tsx';
import { LookUp } from '../../../shared/form/look-up.tsx';
import { ChangedMeanwhile, changedByOthers, changesOf } from '../../../shared/form/seen.ts';
import { KeptState, useKept } from '../../../shared/form/use-kept.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { queryClient } from '../../../shared/service/queries.ts';
import { api, service } from '../../../shared/service/service.ts';
import { createTimeFormat } from '../../../shared/time/format.ts';
import { useNow } from '../../../shared/time/use-time.ts';
import { Button } from '../../../ui/button.tsx';
import { Facts, Panel } from '../../../ui/panel.tsx';
import { Select } from '../../../ui/select.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { findZones } from './zones.ts';

/** The time zone and the formats of times, for all users. */
export function SettingsPage() {
  const { t } = useTranslation('administration');
  const { data, error, refetch } = useQuery(service.system.timezone.getTimezoneSettings.queryOptions());
  return (
    <>
      <PageHeader title={t('settings.title')} />
      <div className="min-h-0 grow overflow-y-auto px-4 py-3">
        {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Skeleton rows={6} />}
        {data && <TimeForm settings={data} />}
      </div>
    </>
  );
}

const FORMATS = ['YYYY-MM-DD', 'DD.MM.YYYY', 'DD/MM/YYYY', 'MM/DD/YYYY'] as const;
const DAYS = [0, 1, 2, 3, 4, 5, 6] as const;
/** A Sunday, for formatting the names of the days. */
const SUNDAY = Date.UTC(2026, 0, 4);

/** The time settings, with a preview before they are saved. */
function TimeForm({ settings }: { readonly settings: TimezoneSettings }) {
  const { t, i18n } = useTranslation(['administration', 'common']);
  const { say } = useNotices();
  // Only the user's own changes, so that saving does not revert what another user has changed in the meantime.
  const [chosen, setChosen] = useState<Partial<TimezoneSettings>>({});
  const kept = useKept('time settings');
  const [asks, setAsks] = useState(false);
  const wanted = { ...settings, ...chosen };
  const changes = changesOf(settings, chosen);
  const set = (change: Partial<TimezoneSettings>) => setChosen((all) => ({ ...all, ...change }));
  const show = (read: TimezoneSettings) =>
    queryClient.setQueryData(service.system.timezone.getTimezoneSettings.queryKey(), read);
  const save = async () => {
    const now = await api.system.timezone.getTimezoneSettings.query();
    show(now);
    if (changedByOthers(settings, now, changes).size > 0) throw new ChangedMeanwhile();
    const { settings: saved } = await api.system.timezone.updateTimezoneSettings.mutate(changes);
    show(saved);
    setChosen({});
    kept.forget();
  };
  const done = () => {
    setAsks(false);
    say(t('settings.saved'));
    void queryClient.invalidateQueries({ queryKey: service.system.timezone.pathKey() });
  };
  const change = useMutation({ mutationFn: save, onSuccess: done });
  const isChanged = Object.keys(changes).length > 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (changes.timezone === undefined) change.mutate();
    else setAsks(true);
  };
  const dayName = new Intl.DateTimeFormat(i18n.language, { weekday: 'long', timeZone: 'UTC' });
  return (
    <form ref={kept.ref} onSubmit={submit} className="grid items-start gap-4 lg:grid-cols-2">
      <Panel title={t('settings.time')}>
        <div className="flex flex-col gap-3">
          <KeptState name="chosen" value={chosen} onRestore={setChosen} />
          <p>
            <span className="text-muted">{t('settings.zone')}</span>{' '}
            <bdi className="font-medium">{wanted.timezone}</bdi>
          </p>
          <LookUp
            label={t('settings.otherZone')}
            find={async (part) => findZones(part)}
            onChoose={(timezone) => set({ timezone })}
          />
          <Select
            label={t('settings.hours')}
            value={wanted.use24HourFormat ? '24' : '12'}
            options={[
              { value: '24', label: t('settings.hours24') },
              { value: '12', label: t('settings.hours12') },
            ]}
            onChange={(value) => set({ use24HourFormat: value === '24' })}
          />
          <Select
            label={t('settings.date')}
            value={wanted.dateFormat}
            options={FORMATS.map((value) => ({ value, label: value }))}
            onChange={(dateFormat) => set({ dateFormat })}
          />
          <Select
            label={t('settings.firstDay')}
            value={String(wanted.firstDayOfWeek)}
            options={DAYS.map((day) => ({
              value: String(day),
              label: dayName.format(SUNDAY + day * DAY_MS),
            }))}
            onChange={(value) => set({ firstDayOfWeek: Number(value) })}
          />
          {change.error && <Failure error={change.error} />}
          <div className="flex gap-2">
            <Button kind="primary" type="submit" disabled={!isChanged || change.isPending}>
              {t('common:dialog.save')}
            </Button>
            <Button disabled={!isChanged} onClick={() => setChosen({})}>
              {t('settings.revert')}
            </Button>
          </div>
        </div>
      </Panel>
      <TimePreview settings={wanted} />
      {asks && (
        <ConfirmDialog
          title={t('settings.zoneTitle')}
          action={t('settings.zoneAction')}
          run={save}
          onDone={done}
          onClose={() => setAsks(false)}
        >
          <p dir="auto">{t('settings.zoneText', { from: settings.timezone, to: wanted.timezone })}</p>
          <p className="text-muted">{t('settings.zoneNote')}</p>
        </ConfirmDialog>
      )}
    </form>
  );
}

/** A preview of how times are written with settings that are not saved yet. */
function TimePreview({ settings }: { readonly settings: TimezoneSettings }) {
  const { t, i18n } = useTranslation('administration');
  const now = useNow();
  const format = createTimeFormat(settings.timezone, i18n.language, settings);
  const show = (moment: Date) => (
    <span dir="ltr" className="figures">
      {format.dateTime(moment)} <span className="text-muted">{format.offset(moment)}</span>
    </span>
  );
  const year = new Date(now).getUTCFullYear();
  return (
    <Panel title={t('settings.preview')}>
      <div className="flex flex-col gap-4">
        <Facts
          facts={[
            [t('settings.now'), show(new Date(now))],
            [t('settings.winter'), show(new Date(Date.UTC(year, 0, 15, 8, 5)))],
            [t('settings.summer'), show(new Date(Date.UTC(year, 6, 15, 20, 5)))],
          ]}
        />
        <Week settings={settings} now={now} />
      </div>
    </Panel>
  );
}

/** The current week, beginning with the selected first day. */
function Week({ settings, now }: { readonly settings: TimezoneSettings; readonly now: number }) {
  const { t, i18n } = useTranslation('administration');
  const format = createTimeFormat(settings.timezone, i18n.language, settings);
  const today = new Date(`${format.isoDay(new Date(now))}T00:00:00Z`);
  const back = (today.getUTCDay() - settings.firstDayOfWeek + 7) % 7;
  const name = new Intl.DateTimeFormat(i18n.language, { weekday: 'short', timeZone: 'UTC' });
  const days = Array.from({ length: 7 }, (_, at) => new Date(today.getTime() + (at - back) * DAY_MS));
  return (
    <table className="w-full max-w-md table-fixed border-separate border-spacing-0 text-center">
      <caption className="mb-1 text-start text-sm text-muted">{t('settings.week')}</caption>
      <thead>
        <tr>
          {days.map((day) => (
            <th key={day.getTime()} scope="col" className="border-b py-1 text-sm font-medium text-muted">
              {name.format(day)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        <tr>
          {days.map((day) => {
            const isToday = day.getTime() === today.getTime();
            return (
              <td
                key={day.getTime()}
                aria-current={isToday ? 'date' : undefined}
                className={isToday ? 'figures rounded-md bg-selected py-1 font-semibold' : 'figures py-1'}
              >
                {day.getUTCDate()}
              </td>
            );
          })}
        </tr>
      </tbody>
    </table>
  );
}
