import { type LaneState, laneStates } from '@gantry/contract/incident-states';
import { pointDirections } from '@gantry/contract/values';
import { worksKinds } from '@gantry/contract/work-states';
import type { SavedWorks, Works } from '@gantry/contract/works';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FormDateField } from '../../shared/form/date-field.tsx';
import { type Entered, useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { LookUp } from '../../shared/form/look-up.tsx';
import { LookUpField } from '../../shared/form/look-up-field.tsx';
import { useKeptField } from '../../shared/form/use-kept.tsx';
import { CoordinateFields, readCoordinates } from '../../shared/places/coordinate-fields.tsx';
import { locationLookUp, sensorLookUp } from '../../shared/places/look-ups.ts';
import { queryClient } from '../../shared/service/queries.ts';
import { api, service } from '../../shared/service/service.ts';
import { createEnteredTimes } from '../../shared/time/entered.ts';
import { useTimeSettings } from '../../shared/time/zone.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { ChoiceField } from '../../ui/select.tsx';

const WEEK = [1, 2, 3, 4, 5, 6, 7] as const;
const MAX_LANES = 12;

interface WorksDialogProps {
  /** The works to change; absent: new ones. */
  readonly works?: Works;
  /** The sensors of new works. */
  readonly sensorIds?: readonly string[];
  readonly onClose: () => void;
  readonly onSaved: (works: SavedWorks) => void;
}

/** The texts of the date fields when the form was opened: a time that was not changed keeps its seconds. */
interface Before {
  readonly startsAt: string;
  readonly endsAt: string;
}

function read(entered: Entered, works: Works | undefined, before: Before) {
  const timeOf = (name: keyof Before) => {
    const text = entered.text(name);
    return works && text === before[name] ? works[name] : text;
  };
  const [from, until] = [entered.text('recurrence.from'), entered.text('recurrence.until')];
  const weekdays = WEEK.filter((day) => entered.checked(`day ${day}`));
  const place = readCoordinates(entered, 'geometry');
  const lanes = entered.text('lanes');
  const isLine = works?.geometry?.type === 'LineString' && place === null;
  return {
    title: entered.text('title'),
    kind: entered.text('kind') as Works['kind'],
    description: entered.textOrNull('description'),
    contact: entered.textOrNull('contact'),
    road: entered.textOrNull('road'),
    direction: (entered.textOrNull('direction') as Works['direction']) ?? null,
    fromKilometre: entered.numberOrNull('fromKilometre'),
    toKilometre: entered.numberOrNull('toKilometre'),
    locationId: entered.textOrNull('locationId'),
    ...(!isLine && {
      geometry: place && {
        type: 'Point' as const,
        coordinates: [place.longitude, place.latitude],
      },
    }),
    lanes: lanes === '' ? null : (lanes.split(',') as LaneState[]),
    sensorIds: entered.text('sensorIds').split(',').filter(Boolean),
    startsAt: timeOf('startsAt'),
    endsAt: timeOf('endsAt'),
    recurrence: from === '' && until === '' ? null : { from, until, weekdays: [...weekdays] },
    opensIncident: entered.checked('opensIncident'),
  };
}

/** A dialog that proposes works, or changes them. */
export function WorksDialog({ works, sensorIds = [], onClose, onSaved }: WorksDialogProps) {
  const { t } = useTranslation('works');
  const settings = useTimeSettings();
  const times = createEnteredTimes(settings, { withTime: true });
  const shownAs = (at: Date | undefined) => (at ? times.iso(at.getTime()) : '');
  const [before] = useState({ startsAt: shownAs(works?.startsAt), endsAt: shownAs(works?.endsAt) });
  const isActive = works?.state === 'ACTIVE';
  const form = useForm({
    keep: `works ${works?.id ?? ''}`,
    read: (entered) => read(entered, works, before),
    save: (input) => {
      if (!works) return api.works.create.mutate(input);
      const { title, description, contact, endsAt } = input;
      const changes = isActive ? { title, description, contact, endsAt } : input;
      return api.works.update.mutate({ id: works.id, expectedVersion: works.version, ...changes });
    },
    onSuccess: (saved) => {
      void queryClient.invalidateQueries({ queryKey: service.works.pathKey() });
      onClose();
      onSaved(saved);
    },
  });
  const { errorOf } = form;
  const ofSensors = works?.sensorIds ?? sensorIds;
  return (
    <FormDialog
      title={works ? t('edit') : t('create')}
      form={form}
      onClose={onClose}
      width="wide"
      action={works ? undefined : t('propose')}
    >
      {works?.state === 'APPROVED' && <p className="text-sm text-muted">{t('approveAgain')}</p>}
      {isActive && <p className="text-sm text-muted">{t('inForceText')}</p>}
      <Field
        label={t('fields.title')}
        name="title"
        defaultValue={works?.title}
        maxLength={200}
        error={errorOf('title')}
        required
        autoFocus
      />
      {!isActive && <WhereFields works={works} sensorIds={ofSensors} errorOf={errorOf} />}
      <div className="grid gap-3 sm:grid-cols-2">
        {!isActive && (
          <FormDateField
            label={t('fields.startsAt')}
            name="startsAt"
            withTime
            defaultValue={before.startsAt}
            error={errorOf('startsAt')}
            required
          />
        )}
        <FormDateField
          label={t('fields.endsAt')}
          name="endsAt"
          withTime
          defaultValue={before.endsAt}
          error={errorOf('endsAt')}
          required
        />
      </div>
      {!isActive && <HoursFields works={works} errorOf={errorOf} />}
      <Field
        label={t('fields.contact')}
        name="contact"
        defaultValue={works?.contact ?? ''}
        maxLength={200}
        error={errorOf('contact')}
      />
      <Field
        label={t('fields.description')}
        name="description"
        lines={3}
        defaultValue={works?.description ?? ''}
        maxLength={4000}
        error={errorOf('description')}
      />
      {!isActive && (
        <label className="flex min-h-8 items-center gap-2 pointer-coarse:min-h-11">
          <input
            type="checkbox"
            name="opensIncident"
            defaultChecked={works?.opensIncident ?? false}
            className="size-4 accent-accent"
          />
          {t('fields.opensIncident')}
        </label>
      )}
    </FormDialog>
  );
}

interface FieldsProps {
  readonly works: Works | undefined;
  readonly errorOf: (path: string) => string | undefined;
}

function WhereFields({ works, sensorIds, errorOf }: FieldsProps & { readonly sensorIds: readonly string[] }) {
  const { t } = useTranslation('works');
  const isMaintenance = works === undefined && sensorIds.length > 0;
  const point = works?.geometry?.type === 'Point' ? works.geometry.coordinates : null;
  return (
    <>
      <ChoiceField
        label={t('fields.kind')}
        name="kind"
        defaultValue={works?.kind ?? (isMaintenance ? 'MAINTENANCE' : 'ROADWORKS')}
        options={worksKinds.map((value) => ({ value, label: t(`kinds.${value}`) }))}
      />
      <div className="grid gap-3 sm:grid-cols-4">
        <Field
          label={t('fields.road')}
          name="road"
          defaultValue={works?.road ?? ''}
          maxLength={100}
          error={errorOf('road')}
        />
        <ChoiceField
          label={t('fields.direction')}
          name="direction"
          defaultValue={works?.direction ?? ''}
          options={[
            { value: '', label: t('anyDirection') },
            ...pointDirections
              .filter((value) => value !== 'BOTH' || works?.direction === 'BOTH')
              .map((value) => ({ value, label: value })),
          ]}
        />
        {(['fromKilometre', 'toKilometre'] as const).map((name) => (
          <Field
            key={name}
            label={t(`fields.${name}`)}
            name={name}
            inputMode="decimal"
            dir="ltr"
            defaultValue={works?.[name] ?? ''}
            error={errorOf(name)}
          />
        ))}
      </div>
      <LookUpField
        label={t('fields.location')}
        name="locationId"
        defaultValue={works?.locationId ?? null}
        {...locationLookUp}
        error={errorOf('locationId')}
      />
      <CoordinateFields
        name="geometry"
        coordinates={point && { longitude: point[0] ?? 0, latitude: point[1] ?? 0 }}
        errorOf={() =>
          errorOf('geometry.coordinates') ??
          errorOf('geometry.coordinates.0') ??
          errorOf('geometry.coordinates.1')
        }
      />
      <LanesField lanes={works?.lanes ?? null} error={errorOf('lanes')} />
      <SensorsField ids={sensorIds} error={errorOf('sensorIds') ?? errorOf('sensorIds.0')} />
    </>
  );
}

/** The lanes, each with its state, which a click changes. */
function LanesField({
  lanes,
  error,
}: {
  readonly lanes: readonly LaneState[] | null;
  readonly error: string | undefined;
}) {
  const { t } = useTranslation('works');
  const [states, setStates] = useState<readonly LaneState[]>(lanes ?? []);
  const hidden = useKeptField(states.join(','), (kept) =>
    setStates(kept.split(',').filter((each): each is LaneState => laneStates.includes(each as LaneState))),
  );
  const after = (state: LaneState): LaneState =>
    laneStates[(laneStates.indexOf(state) + 1) % laneStates.length] ?? 'OPEN';
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="text-sm text-muted">{t('fields.lanes')}</legend>
      <input ref={hidden} type="hidden" data-kept name="lanes" value={states.join(',')} />
      <div className="flex flex-wrap gap-1.5">
        {states.map((state, n) => (
          <Button
            // biome-ignore lint/suspicious/noArrayIndexKey: lanes have no names but their numbers
            key={n}
            aria-label={t('laneIs', { n: n + 1, state: t(`lanes.${state}`) })}
            onClick={() => setStates(states.with(n, after(state)))}
          >
            {n + 1} {t(`lanes.${state}`)}
          </Button>
        ))}
        {states.length < MAX_LANES && (
          <Button kind="quiet" icon="add" onClick={() => setStates([...states, 'CLOSED'])}>
            {t('addLane')}
          </Button>
        )}
        {states.length > 0 && (
          <Button kind="quiet" icon="less" onClick={() => setStates(states.slice(0, -1))}>
            {t('removeLane')}
          </Button>
        )}
      </div>
      {error !== undefined && <p className="text-sm text-critical">{error}</p>}
    </fieldset>
  );
}

/** The sensors that are in maintenance meanwhile. */
function SensorsField({
  ids,
  error,
}: {
  readonly ids: readonly string[];
  readonly error: string | undefined;
}) {
  const { t } = useTranslation('works');
  const [chosen, setChosen] = useState<readonly string[]>(ids);
  const hidden = useKeptField(chosen.join(','), (kept) => setChosen(kept.split(',').filter(Boolean)));
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="text-sm text-muted">{t('fields.sensors')}</legend>
      <input ref={hidden} type="hidden" data-kept name="sensorIds" value={chosen.join(',')} />
      <ul className="flex flex-wrap gap-1.5">
        {chosen.map((id) => (
          <li key={id} className="flex items-center rounded-md border ps-2">
            <SensorName id={id} />
            <Button
              kind="quiet"
              icon="close"
              iconOnly
              aria-label={t('removeSensor')}
              onClick={() => setChosen(chosen.filter((each) => each !== id))}
            />
          </li>
        ))}
      </ul>
      <LookUp
        key={chosen.length}
        label={t('addSensor')}
        find={sensorLookUp.find}
        onChoose={(id) => setChosen([...new Set([...chosen, id])])}
      />
      {error !== undefined && <p className="text-sm text-critical">{error}</p>}
    </fieldset>
  );
}

function SensorName({ id }: { readonly id: string }) {
  const { data } = useQuery({
    ...service.sensors.getById.queryOptions({ id }),
    staleTime: 300_000,
    retry: false,
  });
  return <bdi>{data?.name ?? id}</bdi>;
}

/** The hours in which works are in force; none: always. */
function HoursFields({ works, errorOf }: FieldsProps) {
  const { t, i18n } = useTranslation('works');
  const weekday = new Intl.DateTimeFormat(i18n.language, { weekday: 'short', timeZone: 'UTC' });
  const hours = works?.recurrence;
  const wrong = errorOf('recurrence.weekdays') ?? errorOf('recurrence');
  return (
    <fieldset className="flex flex-col gap-2 rounded-md border p-3">
      <legend className="px-1 text-sm text-muted">{t('hours.title')}</legend>
      <div className="grid gap-3 sm:grid-cols-2">
        {(['from', 'until'] as const).map((name) => (
          <Field
            key={name}
            label={t(`hours.${name}`)}
            name={`recurrence.${name}`}
            dir="ltr"
            placeholder={name === 'from' ? '22:00' : '05:00'}
            defaultValue={hours?.[name] ?? ''}
            error={errorOf(`recurrence.${name}`)}
          />
        ))}
      </div>
      <div className="flex flex-wrap gap-x-4 gap-y-1">
        {WEEK.map((day) => (
          <label key={day} className="flex min-h-7 items-center gap-1.5 pointer-coarse:min-h-11">
            <input
              type="checkbox"
              name={`day ${day}`}
              defaultChecked={hours?.weekdays.includes(day) ?? day < 6}
              className="size-4 accent-accent"
            />
            {weekday.format(Date.UTC(2024, 0, day))}
          </label>
        ))}
      </div>
      <p className="text-sm text-muted">{t('hours.hint')}</p>
      {wrong !== undefined && <p className="text-sm text-critical">{wrong}</p>}
    </fieldset>
  );
}
