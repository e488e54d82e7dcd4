import type { Alarm } from '@gantry/contract/alarms';
import { MAX_SILENCE_HOURS } from '@gantry/contract/values';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { api } from '../../shared/service/service.ts';
import { Field } from '../../ui/field.tsx';
import { ChoiceField } from '../../ui/select.tsx';

interface SilenceDialogProps {
  readonly alarm: Alarm;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const HOURS = [1, 2, 4, MAX_SILENCE_HOURS];
const HOUR_MS = 3_600_000;

/** A form that silences all alarms of a rule, or those about one sensor or place, for some hours and with a reason. */
export function SilenceDialog({ alarm, onClose, onDone }: SilenceDialogProps) {
  const { t } = useTranslation('alarms');
  const { ruleId, ruleName, sensorId, locationId, place } = alarm;
  const scopes = [
    ...(sensorId === null ? [] : [{ label: 'SENSOR' as const, value: sensorId, name: place ?? ruleName }]),
    ...(locationId === null || sensorId !== null
      ? []
      : [{ label: 'LOCATION' as const, value: locationId, name: place ?? ruleName }]),
    { label: 'RULE' as const, value: ruleId, name: ruleName },
  ];
  const form = useForm({
    keep: 'silence',
    read: (entered) => {
      const scope = scopes.find(({ label }) => label === entered.text('scope')) ?? scopes[0];
      return {
        matchers: scope ? [{ label: scope.label, values: [scope.value] }] : [],
        endsAt: new Date(Date.now() + Number(entered.text('hours')) * HOUR_MS).toISOString(),
        reason: entered.text('reason'),
      };
    },
    save: (input) => api.silences.create.mutate(input),
    onSuccess: onDone,
  });
  return (
    <FormDialog title={t('silence.title')} form={form} onClose={onClose} action={t('silence.action')}>
      <p className="text-sm text-muted">{t('silence.text')}</p>
      <ChoiceField
        label={t('silence.what')}
        name="scope"
        defaultValue={scopes[0]?.label ?? 'RULE'}
        options={scopes.map(({ label, name }) => ({
          value: label,
          label: t(`silence.scopes.${label}`, { name: `\u2068${name}\u2069` }),
        }))}
      />
      <ChoiceField
        label={t('silence.hours')}
        name="hours"
        defaultValue="1"
        options={HOURS.map((count) => ({ value: String(count), label: t('silence.forHours', { count }) }))}
      />
      <Field label={t('silence.reason')} name="reason" error={form.errorOf('reason')} required />
    </FormDialog>
  );
}
