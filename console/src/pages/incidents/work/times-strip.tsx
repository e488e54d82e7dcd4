import {
  codeOfTime,
  type IncidentTime,
  type SettableTime,
  settableTimes,
} from '@gantry/contract/incident-states';
import type { IncidentTimeEntry } from '@gantry/contract/incident-work';
import type { IncidentDetail } from '@gantry/contract/incidents';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FormDateField } from '../../../shared/form/date-field.tsx';
import { useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { api } from '../../../shared/service/service.ts';
import { createEnteredTimes } from '../../../shared/time/entered.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { useTime } from '../../../shared/time/use-time.ts';
import { useTimeSettings } from '../../../shared/time/zone.ts';
import { Button } from '../../../ui/button.tsx';
import { Field } from '../../../ui/field.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { useShortcuts } from '../../../ui/shortcuts.tsx';
import { useAllowed } from '../allowed.ts';
import { useRefreshIncidents } from '../use-actions.ts';
import { useWork } from './use-work.ts';

/** The keys by which a time is set to now. */
const keys: { readonly [Time in SettableTime]?: string } = {
  verifiedAt: 'v',
  dispatchedAt: 'd',
  arrivedAt: 'a',
  lanesOpenAt: 'o',
  lastLeftAt: 'l',
};

function isSettable(name: IncidentTime): name is SettableTime {
  return name !== 'openedAt';
}

/** The times T0 to T7 of an incident, each with a button that sets it to now, and the clearance times. */
export function TimesStrip({ incident }: { readonly incident: IncidentDetail }) {
  const { t } = useTranslation('incidents');
  const allowed = useAllowed();
  const record = useWork();
  const [isCorrecting, setCorrecting] = useState(false);
  const { id, work } = incident;
  const maySet = allowed(incident, 'setTimes');
  const setNow = (name: IncidentTime) => {
    if (!maySet || !isSettable(name) || work.times.some((time) => time.name === name && time.at !== null))
      return;
    void record(() =>
      name === 'verifiedAt' && allowed(incident, 'verify')
        ? api.incidents.verify.mutate({ id })
        : api.incidents.setTimes.mutate({ id, [name]: 'now' }),
    );
  };
  useShortcuts(
    settableTimes.flatMap((name) => {
      const key = keys[name];
      const label = t('times.setNow', { name: t(`times.names.${name}`) });
      return key ? [{ keys: key, label, scope: 'page' as const, run: () => setNow(name) }] : [];
    }),
  );
  return (
    <section aria-label={t('times.title')} className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <h2 className="text-lg font-semibold">{t('times.title')}</h2>
        <Clearance name={t('times.roadwayClearance')} seconds={work.roadwayClearance} />
        <Clearance name={t('times.incidentClearance')} seconds={work.incidentClearance} />
        {maySet && (
          <Button kind="quiet" icon="edit" className="ms-auto" onClick={() => setCorrecting(true)}>
            {t('times.correct')}
          </Button>
        )}
      </div>
      <ol className="grid grid-cols-2 gap-px overflow-hidden rounded-md border bg-line sm:grid-cols-4">
        {work.times.map((time) => (
          <TimeCell
            key={time.name}
            time={time}
            onNow={maySet && isSettable(time.name) && time.name !== 'occurredAt' ? setNow : null}
          />
        ))}
      </ol>
      {isCorrecting && <TimesDialog incident={incident} onClose={() => setCorrecting(false)} />}
    </section>
  );
}

function Clearance({ name, seconds }: { readonly name: string; readonly seconds: number | null }) {
  const time = useTime();
  if (seconds === null) return null;
  return (
    <span className="text-muted">
      {name} <span className="figures text-text">{time.duration(seconds * 1000)}</span>
    </span>
  );
}

interface TimeCellProps {
  readonly time: IncidentTimeEntry;
  readonly onNow: ((name: IncidentTime) => void) | null;
}

function TimeCell({ time: { name, at, source, conflict }, onNow }: TimeCellProps) {
  const { t } = useTranslation('incidents');
  const label = t(`times.names.${name}`);
  return (
    <li className="flex min-h-20 flex-col gap-1 bg-surface p-2">
      <span className="text-sm text-muted">
        <span className="font-mono text-xs">{codeOfTime(name)}</span> {label}
      </span>
      {at ? (
        <span className="flex flex-wrap items-baseline gap-x-2">
          <Moment at={at} />
          {source === 'DERIVED' && isSettable(name) && (
            <span className="text-xs text-muted">{t('times.derived')}</span>
          )}
        </span>
      ) : (
        onNow && (
          <Button
            className="self-start"
            aria-label={t('times.setNow', { name: label })}
            onClick={() => onNow(name)}
          >
            {t('times.now')}
          </Button>
        )
      )}
      {conflict !== null && (
        <span className="flex gap-1 text-xs text-high">
          <Icon name="high" size={12} className="mt-0.5" />
          <span>
            {t('times.conflict', { other: t(`times.names.${conflict.other}`) })}{' '}
            <Moment at={conflict.at} as="time" />
          </span>
        </span>
      )}
    </li>
  );
}

/** A form to correct the times that people set. Emptied times are derived again. */
function TimesDialog({
  incident,
  onClose,
}: {
  readonly incident: IncidentDetail;
  readonly onClose: () => void;
}) {
  const { t } = useTranslation('incidents');
  const refresh = useRefreshIncidents();
  const entered = createEnteredTimes(useTimeSettings(), { withTime: true });
  const { id, work } = incident;
  const shown = Object.fromEntries(
    work.times.map(({ name, at, source }) => [
      name,
      at !== null && source === 'SET' ? entered.iso(at.getTime()) : '',
    ]),
  );
  const form = useForm({
    keep: `times ${id}`,
    read: (given) => ({
      id,
      ...Object.fromEntries(
        settableTimes
          .map((name) => [name, given.text(name)] as const)
          .filter(([name, text]) => text !== shown[name])
          .map(([name, text]) => [name, text || null]),
      ),
      note: given.textOrNull('note'),
    }),
    save: async (input) => {
      if (settableTimes.some((name) => name in input)) await api.incidents.setTimes.mutate(input);
    },
    onSuccess: () => {
      void refresh();
      onClose();
    },
  });
  return (
    <FormDialog title={t('times.correct')} form={form} onClose={onClose} width="wide">
      <div className="grid gap-3 sm:grid-cols-2">
        {settableTimes.map((name) => (
          <FormDateField
            key={name}
            name={name}
            label={`${codeOfTime(name)} ${t(`times.names.${name}`)}`}
            withTime
            defaultValue={shown[name] ?? ''}
            error={form.errorOf(name)}
          />
        ))}
      </div>
      <Field label={t('times.why')} name="note" lines={2} maxLength={2000} error={form.errorOf('note')} />
    </FormDialog>
  );
}
