import { DAY_MS } from '@gantry/contract/durations';
import type { TimezoneSettings } from '@gantry/contract/system';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { changesOf } from '../../../shared/form/changes.ts';
import { ConfirmDialog } from '../../../shared/form/confirm-dialog.tsx';
import { KeptState } from '../../../shared/form/kept-state.tsx';
import { LookUp } from '../../../shared/form/look-up.tsx';
import { ChangedMeanwhile, changedByOthers } from '../../../shared/form/seen.ts';
import { useKept } from '../../../shared/form/use-kept.ts';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { queryClient } from '../../../shared/service/queries.ts';
import { api, service } from '../../../shared/service/service.ts';
import { Button } from '../../../ui/button.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { Select } from '../../../ui/select.tsx';
import { TimePreview } from './time-preview.tsx';
import { findZones } from './zones.ts';

const FORMATS = ['YYYY-MM-DD', 'DD.MM.YYYY', 'DD/MM/YYYY', 'MM/DD/YYYY'] as const;
const DAYS = [0, 1, 2, 3, 4, 5, 6] as const;
/** A Sunday, for formatting the names of the days. */
const SUNDAY = Date.UTC(2026, 0, 4);

/** The time settings, with a preview before they are saved. */
export function TimeForm({ settings }: { readonly settings: TimezoneSettings }) {
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
