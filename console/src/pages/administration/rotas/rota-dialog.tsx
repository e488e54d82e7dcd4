import type { CreateRotaInput, Rota, RotaWarning } from '@gantry/contract/rotas';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FormDateField } from '../../../shared/form/date-field.tsx';
import { type Entered, useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { createTimeFormat } from '../../../shared/time/format.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { useTimeSettings } from '../../../shared/time/zone.ts';
import { Button } from '../../../ui/button.tsx';
import { Field } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import { type Override, OverrideFields, overridesOf, readOverrides } from './override-fields.tsx';

export type ListedRota = Rota & { readonly onDuty: { readonly name: string } | null };

interface RotaDialogProps {
  /** The rota to change; absent: a new one. */
  readonly rota?: ListedRota | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

type Layer = CreateRotaInput['layers'][number];
const WEEK = [1, 2, 3, 4, 5, 6, 7] as const;

function read(entered: Entered, layers: readonly Layer[], overrides: readonly Override[]) {
  const timezone = entered.text('timezone');
  return {
    name: entered.text('name'),
    ...(timezone !== '' && { timezone }),
    overrides: readOverrides(entered, overrides),
    layers: layers.map(({ members }, n): Layer => {
      const at = `layers.${n}`;
      const from = entered.text(`${at}.hours.from`);
      const until = entered.text(`${at}.hours.until`);
      const weekdays = WEEK.filter((day) => entered.checked(`${at}.day ${day}`));
      const isAlways = from === '' && until === '';
      return {
        ...{ members, start: entered.text(`${at}.start`), handover: entered.text(`${at}.handover`) },
        days: entered.numberOrNull(`${at}.days`) ?? Number.NaN,
        hours: isAlways ? null : { from, until, weekdays },
      };
    }),
  };
}

/** A dialog that adds or changes a rota. Before it is saved, it says at which times nobody is on duty. */
export function RotaDialog({ rota, onClose, onSaved }: RotaDialogProps) {
  const { t } = useTranslation(['administration', 'common']);
  const settings = useTimeSettings();
  const today = createTimeFormat(rota?.timezone ?? settings.timezone, 'en', settings).isoDay(new Date());
  const [layers, setLayers] = useState<readonly Layer[]>(rota?.layers ?? [newLayer(today)]);
  const [overrides, setOverrides] = useState<readonly Override[]>(() => overridesOf(rota));
  const { users } = useUsers();
  const [warnings, setWarnings] = useState<readonly RotaWarning[]>([]);
  /** The input whose warnings were shown. */
  const accepted = useRef('');
  const form = useForm({
    keep: null,
    read: (entered) => read(entered, layers, overrides),
    async save(input) {
      const key = JSON.stringify(input);
      if (accepted.current !== key) {
        const { name: _name, ...duty } = input;
        const zone = rota && { timezone: rota.timezone };
        const preview = await api.rotas.getPreview.query({ ...zone, ...duty, days: 1 });
        accepted.current = key;
        setWarnings(preview.warnings);
        if (preview.warnings.length > 0) return false;
      }
      await (rota ? api.rotas.update.mutate({ id: rota.id, ...input }) : api.rotas.create.mutate(input));
      return true;
    },
    onSuccess: (isSaved) => {
      if (isSaved) onSaved();
    },
  });
  const change = (n: number, members: readonly string[]) =>
    setLayers(layers.map((layer, at) => (at === n ? { ...layer, members: [...members] } : layer)));
  return (
    <FormDialog
      title={rota ? t('rotas.edit') : t('rotas.create')}
      form={form}
      onClose={onClose}
      action={warnings.length > 0 ? t('rotas.saveStill') : undefined}
      width="wide"
    >
      <Field
        label={t('channels.name')}
        name="name"
        defaultValue={rota?.name}
        error={form.errorOf('name')}
        maxLength={100}
        required
      />
      <Field
        label={t('rotas.timezone')}
        hint={t('rotas.timezoneHint')}
        name="timezone"
        dir="ltr"
        placeholder="Europe/Istanbul"
        defaultValue={rota?.timezone ?? ''}
        error={form.errorOf('timezone')}
      />
      {layers.map((layer, n) => (
        <LayerFields
          // biome-ignore lint/suspicious/noArrayIndexKey: layers are only added and removed at the end
          key={n}
          n={n}
          layer={layer}
          onMembers={(members) => change(n, members)}
          errorOf={form.errorOf}
        />
      ))}
      <div className="flex gap-2">
        <Button icon="add" onClick={() => setLayers([...layers, newLayer(today)])}>
          {t('rotas.addLayer')}
        </Button>
        {layers.length > 1 && (
          <Button icon="less" onClick={() => setLayers(layers.slice(0, -1))}>
            {t('rotas.removeLayer')}
          </Button>
        )}
      </div>
      <p className="text-sm text-muted">{t('rotas.layersText')}</p>
      <OverrideFields overrides={overrides} onChange={setOverrides} users={users} errorOf={form.errorOf} />
      {warnings.length > 0 && (
        <ul role="alert" className="rounded-md border border-medium bg-medium-surface p-3">
          {warnings.map((warning) => (
            <li key={warning.message}>
              <Warning warning={warning} />
            </li>
          ))}
        </ul>
      )}
    </FormDialog>
  );
}

/** @param start the day on which it begins */
function newLayer(start: string): Layer {
  return { start, handover: '08:00', days: 7, members: [], hours: null };
}

function Warning({ warning: { kind, from, until, others, user } }: { readonly warning: RotaWarning }) {
  const { t } = useTranslation('administration');
  if (kind === 'UNREACHABLE') return t('rotas.unreachable', { name: user?.name ?? '…' });
  return (
    <>
      {t('rotas.gap')}{' '}
      <span dir="ltr">
        {from && <Moment at={from} />} – {until && <Moment at={until} />}
      </span>
      {others > 0 && ` ${t('rotas.others', { count: others })}`}
    </>
  );
}

interface LayerFieldsProps {
  readonly n: number;
  readonly layer: Layer;
  readonly onMembers: (members: readonly string[]) => void;
  readonly errorOf: (path: string) => string | undefined;
}

function LayerFields({ n, layer, onMembers, errorOf }: LayerFieldsProps) {
  const { t, i18n } = useTranslation('administration');
  const at = `layers.${n}`;
  const weekday = new Intl.DateTimeFormat(i18n.language, { weekday: 'short', timeZone: 'UTC' });
  const nameOfDay = (day: number) => weekday.format(Date.UTC(2024, 0, day));
  return (
    <fieldset className="flex flex-col gap-3 rounded-md border p-3">
      <legend className="px-1 text-sm text-muted">{t('rotas.layer', { n: n + 1 })}</legend>
      <Members ids={layer.members} onChange={onMembers} error={errorOf(`${at}.members`)} />
      <div className="grid gap-3 sm:grid-cols-3">
        <FormDateField
          label={t('rotas.start')}
          name={`${at}.start`}
          defaultValue={layer.start}
          error={errorOf(`${at}.start`)}
          required
        />
        <Field
          label={t('rotas.handover')}
          name={`${at}.handover`}
          dir="ltr"
          placeholder="08:00"
          defaultValue={layer.handover}
          error={errorOf(`${at}.handover`)}
          required
        />
        <Field
          label={t('rotas.days')}
          name={`${at}.days`}
          type="number"
          min={1}
          max={366}
          defaultValue={layer.days}
          error={errorOf(`${at}.days`)}
          required
        />
        <Field
          label={t('rotas.hoursFrom')}
          name={`${at}.hours.from`}
          dir="ltr"
          placeholder="08:00"
          hint={t('rotas.hoursHint')}
          defaultValue={layer.hours?.from ?? ''}
          error={errorOf(`${at}.hours.from`)}
        />
        <Field
          label={t('rotas.hoursUntil')}
          name={`${at}.hours.until`}
          dir="ltr"
          placeholder="17:00"
          defaultValue={layer.hours?.until ?? ''}
          error={errorOf(`${at}.hours.until`)}
        />
      </div>
      <div className="flex flex-wrap gap-x-4 gap-y-1">
        {WEEK.map((day) => (
          <label key={day} className="flex min-h-7 items-center gap-1.5 pointer-coarse:min-h-11">
            <input
              type="checkbox"
              name={`${at}.day ${day}`}
              defaultChecked={layer.hours?.weekdays.includes(day) ?? day < 6}
              className="size-4 accent-accent"
            />
            {nameOfDay(day)}
          </label>
        ))}
      </div>
      {errorOf(`${at}.hours.weekdays`) && (
        <p className="text-sm text-critical">{errorOf(`${at}.hours.weekdays`)}</p>
      )}
    </fieldset>
  );
}

/** Largest page of the list of users. */
const USERS = 100;

/** The active users as options, and the name for an id. */
function useUsers() {
  const { data } = useQuery(service.users.getAll.queryOptions({ take: USERS, isActive: true }));
  const users = (data?.users ?? []).map(({ id, firstName, lastName }) => ({
    value: id,
    label: `${firstName} ${lastName}`,
  }));
  const nameOf = (id: string) => users.find(({ value }) => value === id)?.label ?? '…';
  return { users, nameOf };
}

/** The members of a layer in their order. */
function Members({
  ids,
  onChange,
  error,
}: {
  readonly ids: readonly string[];
  readonly onChange: (ids: readonly string[]) => void;
  readonly error: string | undefined;
}) {
  const { t } = useTranslation('administration');
  const { users, nameOf } = useUsers();
  return (
    <div className="flex flex-col gap-1">
      <span className="text-sm text-muted">{t('rotas.members')}</span>
      <ol className="flex flex-wrap gap-2">
        {ids.map((id, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a user may be named several times
          <li key={n} className="flex items-center rounded-md border ps-2">
            <bdi>{nameOf(id)}</bdi>
            <Button
              kind="quiet"
              icon="close"
              iconOnly
              aria-label={t('rotas.removeMember', { name: nameOf(id) })}
              onClick={() => onChange(ids.filter((_, at) => at !== n))}
            />
          </li>
        ))}
      </ol>
      <Select
        label={t('rotas.addMember')}
        hideLabel
        value=""
        options={[{ value: '', label: t('rotas.addMember') }, ...users]}
        onChange={(id) => id !== '' && onChange([...ids, id])}
        error={error}
      />
    </div>
  );
}
