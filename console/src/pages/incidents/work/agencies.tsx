import { type AgencyTime, agencyTimes } from '@gantry/contract/incident-states';
import type { CalledAgency } from '@gantry/contract/incident-work';
import type { IncidentDetail } from '@gantry/contract/incidents';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, service } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { Button } from '../../../ui/button.tsx';
import { Field } from '../../../ui/field.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { Select } from '../../../ui/select.tsx';
import { useShortcuts } from '../../../ui/shortcuts.tsx';
import { useAllowed } from '../allowed.ts';
import { useWork } from './use-work.ts';

/** The agencies and units that were called to an incident, each with a button for its next time. */
export function Agencies({ incident }: { readonly incident: IncidentDetail }) {
  const { t } = useTranslation('incidents');
  const allowed = useAllowed();
  const record = useWork();
  const { id, work } = incident;
  const maySet = allowed(incident, 'updateAgency');
  const set = (entry: CalledAgency, name: AgencyTime) =>
    void record(() => api.incidents.updateAgency.mutate({ id, entryId: entry.id, [name]: 'now' }));
  return (
    <Panel title={t('agencies.title')}>
      <div className="flex flex-col gap-3">
        {work.agencies.length === 0 && <p className="text-muted">{t('agencies.none')}</p>}
        {work.agencies.length > 0 && (
          <ul className="flex flex-col gap-3">
            {work.agencies.map((entry) => (
              <Unit
                key={entry.id}
                entry={entry}
                onSet={maySet ? (name) => set(entry, name) : null}
                onRemove={
                  allowed(incident, 'removeAgency')
                    ? () => void record(() => api.incidents.removeAgency.mutate({ id, entryId: entry.id }))
                    : null
                }
              />
            ))}
          </ul>
        )}
        {allowed(incident, 'addAgency') && <CallAgency incidentId={id} />}
      </div>
    </Panel>
  );
}

interface UnitProps {
  readonly entry: CalledAgency;
  readonly onSet: ((name: AgencyTime) => void) | null;
  readonly onRemove: (() => void) | null;
}

function Unit({ entry, onSet, onRemove }: UnitProps) {
  const { t } = useTranslation('incidents');
  const { name, unit, kind, phone } = entry;
  const known = agencyTimes.filter((time) => entry[time] !== null);
  const last = known.at(-1);
  // The next ones in order; earlier ones can be skipped, such as for a unit that was there already.
  const next = agencyTimes.slice(last === undefined ? 0 : agencyTimes.indexOf(last) + 1);
  const title = unit === null ? name : `${name} · ${unit}`;
  return (
    <li aria-label={title} className="flex flex-col gap-1">
      <p className="flex flex-wrap items-baseline gap-x-2">
        <bdi className="font-medium">{title}</bdi>
        <span className="text-sm text-muted">{t(`agencies.kinds.${kind}`)}</span>
        {phone !== null && (
          <a
            href={`tel:${phone.replaceAll(/[^\d+*#]/g, '')}`}
            dir="ltr"
            className="text-sm text-accent underline"
          >
            {phone}
          </a>
        )}
        {onRemove && known.length === 0 && (
          <Button
            kind="quiet"
            icon="delete"
            iconOnly
            className="ms-auto"
            aria-label={t('agencies.remove', { name: title })}
            onClick={onRemove}
          />
        )}
      </p>
      {known.length > 0 && (
        <p className="flex flex-wrap gap-x-3 text-sm">
          {known.map((time) => (
            <span key={time}>
              <span className="text-muted">{t(`agencies.times.${time}`)}</span>{' '}
              {entry[time] && <Moment at={entry[time]} as="time" />}
            </span>
          ))}
        </p>
      )}
      {onSet && next.length > 0 && (
        <div className="flex flex-wrap gap-1.5">
          {next.map((time) => (
            <Button
              key={time}
              aria-label={t('agencies.setNow', { name: title, time: t(`agencies.times.${time}`) })}
              onClick={() => onSet(time)}
            >
              {t(`agencies.times.${time}`)}
            </Button>
          ))}
        </div>
      )}
    </li>
  );
}

/** Calls an agency: it is dispatched now. `u` leads to its fields, and Enter calls it. */
function CallAgency({ incidentId }: { readonly incidentId: string }) {
  const { t } = useTranslation('incidents');
  const record = useWork();
  const { data } = useQuery(service.agencies.getAll.queryOptions({}));
  const [chosen, setChosen] = useState('');
  const form = useRef<HTMLFormElement>(null);
  const agencies = data?.agencies ?? [];
  const toFields = () => form.current?.querySelector('select')?.focus();
  useShortcuts(
    agencies.length > 0 ? [{ keys: 'u', label: t('agencies.call'), scope: 'page', run: toFields }] : [],
  );
  const agencyId = agencies.some(({ id }) => id === chosen) ? chosen : (agencies[0]?.id ?? '');
  if (agencies.length === 0) return <p className="text-sm text-muted">{t('agencies.noneToCall')}</p>;
  return (
    <form
      ref={form}
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        const element = event.currentTarget;
        const unit = String(new FormData(element).get('unit') ?? '').trim();
        void record(() =>
          api.incidents.addAgency.mutate({
            id: incidentId,
            agencyId,
            unit: unit || null,
            dispatchedAt: 'now',
          }),
        );
        element.reset();
      }}
    >
      <Select
        label={t('agencies.agency')}
        value={agencyId}
        options={agencies.map(({ id, name }) => ({ value: id, label: name }))}
        onChange={setChosen}
        onKeyDown={(event) => {
          if (event.key === 'Enter') event.currentTarget.form?.requestSubmit();
        }}
      />
      <Field label={t('agencies.unit')} name="unit" maxLength={50} className="w-28" />
      <Button type="submit" icon="send">
        {t('agencies.dispatch')}
      </Button>
    </form>
  );
}
