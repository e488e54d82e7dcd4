import type { AlarmSource } from '@gantry/contract/alarm-rules';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { LookUpField } from '../../../shared/form/look-up-field.tsx';
import { sensorLookUp } from '../../../shared/places/look-ups.ts';
import { service } from '../../../shared/service/service.ts';
import { Field } from '../../../ui/field.tsx';
import { ChoiceField } from '../../../ui/select.tsx';
import { type ConditionField, fieldsOf, valueIn } from './condition-form.ts';

interface ConditionFieldsProps {
  readonly source: AlarmSource;
  /** What the fields show at first. */
  readonly condition: object;
  readonly errorOf: (path: string) => string | undefined;
}

/** The fields of the condition of a rule. */
export function ConditionFields({ source, condition, errorOf }: ConditionFieldsProps) {
  const { t } = useTranslation('administration');
  return (
    <>
      <p className="text-sm text-muted">{t(`alarmRules.sourceTexts.${source}`)}</p>
      <div className="grid gap-3 sm:grid-cols-2">
        {fieldsOf[source].map((field) => (
          <OneField
            key={`${source} ${field.name}`}
            source={source}
            field={field}
            value={valueIn(condition, field.name)}
            error={errorOf(`condition.${field.name}`)}
          />
        ))}
      </div>
    </>
  );
}

interface OneFieldProps {
  readonly source: AlarmSource;
  readonly field: ConditionField;
  readonly value: unknown;
  readonly error: string | undefined;
}

function OneField({ source, field, value, error }: OneFieldProps) {
  const { t } = useTranslation(['administration', 'common', 'events']);
  const name = `condition.${field.name}`;
  const key = field.name.replace('filter.', '');
  const label = t(
    (source === 'TRAFFIC' && key === 'of'
      ? 'alarmRules.fields.comparedWith'
      : `alarmRules.fields.${key}`) as never,
  );
  const nameOf = useValueNames(field, key);
  const text = value === undefined || value === null ? '' : String(value);
  switch (field.kind) {
    case 'choice':
      return (
        <ChoiceField
          label={label}
          name={name}
          defaultValue={text || (field.isOptional ? '' : (field.values[0] ?? ''))}
          options={[
            ...(field.isOptional ? [{ value: '', label: t('alarmRules.any') }] : []),
            ...field.values.map((each) => ({ value: each, label: nameOf(each) })),
          ]}
        />
      );
    case 'checks':
      return (
        <Checks
          label={label}
          name={name}
          options={field.values.map((each) => ({ value: each, label: nameOf(each) }))}
          chosen={Array.isArray(value) ? value : []}
          error={error}
        />
      );
    case 'number':
      return (
        <Field
          label={label}
          name={name}
          inputMode="decimal"
          dir="ltr"
          defaultValue={text}
          hint={field.isOptional ? t('alarmRules.usualThreshold') : undefined}
          error={error}
          required={!field.isOptional}
        />
      );
    case 'text':
      return <Field label={label} name={name} defaultValue={text} error={error} />;
    case 'sensor':
      return (
        <LookUpField label={label} name={name} defaultValue={text || null} error={error} {...sensorLookUp} />
      );
    case 'hotlist':
      return <HotlistField label={label} name={name} value={text} />;
  }
}

function useValueNames(field: ConditionField, key: string): (value: string) => string {
  const { t } = useTranslation(['administration', 'common', 'events']);
  if (field.kind !== 'choice' && field.kind !== 'checks') return (value) => value;
  const places = {
    own: `administration:alarmRules.values.${key}`,
    severity: 'common:severity',
    incidentTypes: 'common:incidentTypes',
    eventTypes: 'events:types',
  };
  return (value) => t(`${places[field.names]}.${value}` as never);
}

/** Largest page of the list of hotlists. */
const HOTLISTS = 100;

function HotlistField({
  label,
  name,
  value,
}: {
  readonly label: string;
  readonly name: string;
  readonly value: string;
}) {
  const { t } = useTranslation('administration');
  const { data } = useQuery(service.hotlists.getAll.queryOptions({ take: HOTLISTS }));
  const lists = data?.hotlists ?? [];
  const isUnknown = value !== '' && !lists.some(({ id }) => id === value);
  return (
    <ChoiceField
      label={label}
      name={name}
      defaultValue={value}
      options={[
        { value: '', label: t('alarmRules.anyList') },
        ...(isUnknown ? [{ value, label: value }] : []),
        ...lists.map((list) => ({ value: list.id, label: list.name })),
      ]}
    />
  );
}

interface ChecksProps {
  readonly label: string;
  /** Each check box has the name `<name>.<value>`. */
  readonly name: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly chosen: readonly string[];
  readonly error?: string | undefined;
}

/** Several check boxes with a common label. */
export function Checks({ label, name, options, chosen, error }: ChecksProps) {
  return (
    <fieldset className="flex flex-wrap gap-x-4 gap-y-1 sm:col-span-full">
      <legend className="text-sm text-muted">{label}</legend>
      {options.map((option) => (
        <label key={option.value} className="flex min-h-7 items-center gap-1.5 pointer-coarse:min-h-11">
          <input
            type="checkbox"
            name={`${name}.${option.value}`}
            defaultChecked={chosen.includes(option.value)}
            className="size-4 accent-accent"
          />
          {option.label}
        </label>
      ))}
      {error !== undefined && <p className="w-full text-sm text-critical">{error}</p>}
    </fieldset>
  );
}
