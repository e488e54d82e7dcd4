import type { AlarmRule, AlarmRuleInput, AlarmSource } from '@gantry/contract/alarm-rules';
import type { Policy } from '@gantry/contract/alarms';
import { alarmSources, sensorTypes, severities } from '@gantry/contract/values';
import { hashKey, useQueries } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Entered, enteredInto, useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { LookUp } from '../../../shared/form/look-up.tsx';
import { locationLookUp, sensorLookUp } from '../../../shared/places/look-ups.ts';
import { api } from '../../../shared/service/service.ts';
import { Field } from '../../../ui/field.tsx';
import { ChoiceField, Select } from '../../../ui/select.tsx';
import { Chosen } from './chosen.tsx';
import { Checks, ConditionFields } from './condition-fields.tsx';
import { initialOf, isComplete, readCondition, scopeOf, withGaps, withThreshold } from './condition-form.ts';
import { Trial } from './trial.tsx';
import { useSentence } from './use-sentence.ts';

const WEEK = [1, 2, 3, 4, 5, 6, 7] as const;
const LABELS = ['RULE', 'SOURCE', 'SEVERITY', 'LOCATION', 'SENSOR'] as const;

type Named = Pick<AlarmRuleInput['scope'], 'locationIds' | 'sensorIds'>;

function read(entered: Entered, source: AlarmSource, named: Named): AlarmRuleInput {
  const has = scopeOf(source);
  const clear = withThreshold.has(source) ? entered.numberOrNull('clear.threshold') : null;
  const [from, until] = [entered.text('hours.from'), entered.text('hours.until')];
  const minutes = entered.numberOrNull('forSeconds') ?? 0;
  return {
    name: entered.text('name'),
    enabled: entered.checked('enabled'),
    condition: readCondition(entered, source),
    scope: {
      ...(has.isPlaces ? named : { locationIds: [], sensorIds: [] }),
      sensorTypes: has.isTypes ? sensorTypes.filter((type) => entered.checked(`types.${type}`)) : [],
    },
    severity: entered.text('severity') as AlarmRuleInput['severity'],
    forSeconds: source === 'HIT' ? 0 : Math.round(minutes * 60),
    clear: clear === null ? null : { threshold: clear },
    noData: withGaps.has(source) ? (entered.text('noData') as AlarmRuleInput['noData']) : 'KEEP',
    hours:
      from === '' && until === ''
        ? null
        : { from, until, days: WEEK.filter((day) => entered.checked(`days.${day}`)) },
    groupBy: LABELS.filter((label) => entered.checked(`groupBy.${label}`)),
    policyId: entered.textOrNull('policyId'),
    runbook: entered.textOrNull('runbook'),
  };
}

/** The fields that differ: a rule of which only the name is changed keeps its alarms. */
function changesOf(rule: AlarmRule, given: AlarmRuleInput): Partial<AlarmRuleInput> {
  const isChanged = (name: keyof AlarmRuleInput) => hashKey([rule[name]]) !== hashKey([given[name]]);
  return Object.fromEntries(
    Object.entries(given).filter(([name]) => isChanged(name as keyof AlarmRuleInput)),
  );
}

interface RuleDialogProps {
  /** The rule to change; absent: a new one. */
  readonly rule?: AlarmRule | undefined;
  readonly policies: readonly Policy[];
  /** Whether the rule is about to be enabled. */
  readonly isTurnedOn: boolean;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** A dialog that adds or changes a rule of alarms. It says the rule as a sentence, and when it would have fired. */
export function RuleDialog({ rule, policies, isTurnedOn, onClose, onSaved }: RuleDialogProps) {
  const { t } = useTranslation(['administration', 'common']);
  const content = useRef<HTMLDivElement>(null);
  const [source, setSource] = useState((rule?.condition.source ?? 'SENSOR_STATUS') as AlarmSource);
  const [named, setNamed] = useState<Named>(rule?.scope ?? { locationIds: [], sensorIds: [] });
  const [input, setInput] = useState<AlarmRuleInput | null>(null);
  const form = useForm({
    keep: null,
    read: (entered) => read(entered, source, named),
    save: (given) =>
      rule
        ? api.alarmRules.update.mutate({ id: rule.id, ...changesOf(rule, given) })
        : api.alarmRules.create.mutate(given),
    onSuccess: onSaved,
  });
  const look = () => {
    const entered = content.current?.closest('form');
    if (entered) setInput(read(enteredInto(entered), source, named));
  };
  useEffect(look, [source, named]);
  const condition = rule?.condition.source === source ? rule.condition : initialOf[source];
  const has = scopeOf(source);
  const { errorOf } = form;
  const sentenceOf = useSentence();
  const only = policies.length === 1 ? policies[0]?.id : undefined;
  return (
    <FormDialog
      title={rule ? t('alarmRules.edit') : t('alarmRules.create')}
      form={form}
      onClose={onClose}
      width="wide"
    >
      <div ref={content} onChange={look} className="flex flex-col gap-3">
        <Field
          label={t('channels.name')}
          name="name"
          defaultValue={rule?.name}
          error={errorOf('name')}
          maxLength={100}
          required
        />
        <Group title={t('alarmRules.when')}>
          <Select
            label={t('alarmRules.source')}
            value={source}
            options={alarmSources.map((value) => ({ value, label: t(`alarmRules.sources.${value}`) }))}
            onChange={setSource}
            error={errorOf('condition')}
          />
          <ConditionFields key={source} {...{ source, condition, errorOf }} />
          {source !== 'HIT' && (
            <Field
              label={t('alarmRules.forMinutes')}
              name="forSeconds"
              inputMode="decimal"
              dir="ltr"
              defaultValue={(rule?.forSeconds ?? 300) / 60}
              error={errorOf('forSeconds')}
            />
          )}
        </Group>
        {has.isPlaces && (
          <Group title={t('alarmRules.where')}>
            <Scope named={named} onChange={setNamed} errorOf={errorOf} />
            {has.isTypes && (
              <Checks
                label={t('alarmRules.types')}
                name="types"
                options={sensorTypes.map((value) => ({ value, label: t(`common:sensorTypes.${value}`) }))}
                chosen={rule?.scope.sensorTypes ?? []}
                error={errorOf('scope.sensorTypes')}
              />
            )}
          </Group>
        )}
        <div className="grid gap-3 sm:grid-cols-2">
          <ChoiceField
            label={t('alarmRules.severity')}
            name="severity"
            defaultValue={rule?.severity ?? 'HIGH'}
            options={severities.map((value) => ({ value, label: t(`common:severity.${value}`) }))}
          />
          <ChoiceField
            label={t('alarmRules.policy')}
            name="policyId"
            defaultValue={rule?.policyId ?? (rule && !isTurnedOn ? '' : (only ?? ''))}
            options={[
              { value: '', label: t('alarmRules.noPolicy') },
              ...policies.map(({ id, name }) => ({ value: id, label: name })),
            ]}
          />
        </div>
        <More rule={rule} source={source} errorOf={errorOf} />
        <label className="flex min-h-8 items-center gap-2 pointer-coarse:min-h-11">
          <input
            type="checkbox"
            name="enabled"
            defaultChecked={isTurnedOn || (rule?.enabled ?? true)}
            className="size-4 accent-accent"
          />
          {t('alarmRules.isEnabled')}
        </label>
      </div>
      {input && isComplete(input) && (
        <p aria-live="polite" className="rounded-md border bg-raised p-3">
          <bdi>{sentenceOf(input)}</bdi>
        </p>
      )}
      {input && <Trial rule={{ ...input, name: input.name || t('alarmRules.create') }} />}
    </FormDialog>
  );
}

function Group({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-3 rounded-md border p-3">
      <legend className="px-1 text-sm text-muted">{title}</legend>
      {children}
    </fieldset>
  );
}

type ErrorOf = (path: string) => string | undefined;

interface ScopeProps {
  readonly named: Named;
  readonly onChange: (named: Named) => void;
  readonly errorOf: ErrorOf;
}

/** The locations and sensors that a rule is about. */
function Scope({ named, onChange, errorOf }: ScopeProps) {
  const { t } = useTranslation('administration');
  const parts = [
    {
      field: 'locationIds',
      label: t('alarmRules.locations'),
      add: t('alarmRules.addLocation'),
      lookUp: locationLookUp,
    },
    {
      field: 'sensorIds',
      label: t('alarmRules.sensors'),
      add: t('alarmRules.addSensor'),
      lookUp: sensorLookUp,
    },
  ] as const;
  return parts.map(({ field, label, add, lookUp }) => (
    <NamedItems
      key={field}
      ids={named[field]}
      onChange={(ids) => onChange({ ...named, [field]: ids })}
      error={errorOf(`scope.${field}`)}
      {...{ label, add, lookUp }}
    />
  ));
}

interface NamedItemsProps {
  readonly label: string;
  readonly add: string;
  readonly ids: readonly string[];
  readonly lookUp: typeof sensorLookUp;
  readonly onChange: (ids: string[]) => void;
  readonly error: string | undefined;
}

function NamedItems({ label, add, ids, lookUp, onChange, error }: NamedItemsProps) {
  const names = useQueries({
    queries: ids.map((id) => ({
      queryKey: ['filter', add, id],
      queryFn: () => lookUp.nameOf(id),
      staleTime: 300_000,
      retry: false,
    })),
  });
  return (
    <Chosen
      label={label}
      items={ids.map((id, n) => ({ id, name: names[n]?.data ?? id }))}
      onRemove={(id) => onChange(ids.filter((each) => each !== id))}
      error={error}
    >
      {/* Emptied after each choice. */}
      <LookUp
        key={ids.length}
        label={add}
        find={lookUp.find}
        onChoose={(id) => onChange([...new Set([...ids, id])])}
      />
    </Chosen>
  );
}

interface MoreProps {
  readonly rule: AlarmRule | undefined;
  readonly source: AlarmSource;
  readonly errorOf: ErrorOf;
}

/** What most rules leave as it is. */
function More({ rule, source, errorOf }: MoreProps) {
  const { t, i18n } = useTranslation('administration');
  const weekday = new Intl.DateTimeFormat(i18n.language, { weekday: 'short', timeZone: 'UTC' });
  return (
    <details className="rounded-md border p-3">
      <summary className="cursor-pointer pointer-coarse:min-h-11">{t('alarmRules.more')}</summary>
      <div className="mt-3 grid gap-3 sm:grid-cols-2">
        {withThreshold.has(source) && (
          <Field
            label={t('alarmRules.clear')}
            name="clear.threshold"
            inputMode="decimal"
            dir="ltr"
            hint={t('alarmRules.clearHint')}
            defaultValue={rule?.clear?.threshold}
            error={errorOf('clear.threshold') ?? errorOf('clear')}
          />
        )}
        {withGaps.has(source) && (
          <ChoiceField
            label={t('alarmRules.noData')}
            name="noData"
            defaultValue={rule?.noData ?? 'KEEP'}
            options={(['KEEP', 'CLEAR', 'ALARM'] as const).map((value) => ({
              value,
              label: t(`alarmRules.noDataValues.${value}`),
            }))}
          />
        )}
        {(['from', 'until'] as const).map((end) => (
          <Field
            key={end}
            label={t(end === 'from' ? 'rotas.hoursFrom' : 'rotas.hoursUntil')}
            name={`hours.${end}`}
            dir="ltr"
            placeholder={end === 'from' ? '06:00' : '22:00'}
            hint={end === 'from' ? t('rotas.hoursHint') : undefined}
            defaultValue={rule?.hours?.[end]}
            error={errorOf(`hours.${end}`)}
          />
        ))}
        <Checks
          label={t('alarmRules.days')}
          name="days"
          options={WEEK.map((day) => ({
            value: String(day),
            label: weekday.format(Date.UTC(2024, 0, day)),
          }))}
          chosen={(rule?.hours?.days ?? WEEK).map(String)}
          error={errorOf('hours.days')}
        />
        <Checks
          label={t('alarmRules.groupBy')}
          name="groupBy"
          options={LABELS.map((value) => ({ value, label: t(`alarmRules.labels.${value}`) }))}
          chosen={rule?.groupBy ?? ['RULE']}
        />
        <Field
          label={t('alarmRules.runbook')}
          name="runbook"
          lines={3}
          className="sm:col-span-full"
          defaultValue={rule?.runbook ?? ''}
          error={errorOf('runbook')}
        />
      </div>
    </details>
  );
}
