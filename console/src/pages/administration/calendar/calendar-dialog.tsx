import { GantryError } from '@gantry/client';
import type { CalendarKind } from '@gantry/contract/calendars';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { LookUpField } from '../../../shared/form/look-up-field.tsx';
import { locationLookUp } from '../../../shared/places/look-ups.ts';
import { api } from '../../../shared/service/service.ts';
import { Field } from '../../../ui/field.tsx';
import { ChoiceField } from '../../../ui/select.tsx';

/** In the order in which they are offered. */
const kinds = ['HOLIDAY', 'SCHOOL_BREAK', 'WORKS', 'EVENT', 'WEATHER', 'SPECIAL'] as const;

interface CalendarDialogProps {
  readonly year: string;
  readonly onClose: () => void;
  readonly onAdded: (count: number) => void;
}

/** A form that adds days of one kind: a line for each, with its date and its name. */
export function CalendarDialog({ year, onClose, onAdded }: CalendarDialogProps) {
  const { t } = useTranslation('administration');
  const form = useForm({
    keep: 'new calendar days',
    read: (entered) => {
      const kind = entered.text('kind') as CalendarKind;
      const locationId = entered.textOrNull('locationId');
      return { days: linesOf(entered.text('days')).map((line) => ({ ...line, kind, locationId })) };
    },
    save: (input) => api.calendars.createMany.mutate(input),
    onSuccess: ({ days }) => onAdded(days.length),
  });
  const wrong = wrongLine(form.failure);
  const failure = wrong && t('calendar.wrongLine', { line: wrong.line, message: wrong.message });
  return (
    <FormDialog
      title={t('calendar.add')}
      form={{ ...form, failure: failure ? null : form.failure }}
      onClose={onClose}
      action={t('calendar.add')}
    >
      <ChoiceField
        label={t('calendar.kind')}
        name="kind"
        defaultValue="HOLIDAY"
        options={kinds.map((value) => ({ value, label: t(`calendar.kinds.${value}`) }))}
      />
      <p className="text-sm text-muted">{t('calendar.kindText')}</p>
      <Field
        label={t('calendar.days')}
        hint={t('calendar.daysHint', { example: `\u2068${year}-01-01 ${t('calendar.example')}\u2069` })}
        name="days"
        lines={8}
        error={failure ?? form.errorOf('days')}
        required
      />
      <LookUpField
        label={t('calendar.onlyAt')}
        name="locationId"
        defaultValue={null}
        error={form.errorOf('locationId')}
        {...locationLookUp}
      />
    </FormDialog>
  );
}

/** The date and the name in each line that is not empty; what is no date is left to the service to refuse. */
export function linesOf(text: string): { date: string; name: string }[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const at = line.search(/[\s,;:]/);
      if (at <= 0) return { date: line, name: '' };
      return { date: line.slice(0, at), name: line.slice(at).replace(/^[\s,;:]+/, '') };
    });
}

/** The first line that the service refused, counted from 1 without empty lines. */
function wrongLine(error: unknown): { line: number; message: string } | null {
  if (!(error instanceof GantryError)) return null;
  for (const { path, message } of error.issues) {
    const [, at] = /^days\.(\d+)/.exec(path) ?? [];
    if (at !== undefined) return { line: Number(at) + 1, message };
  }
  return null;
}
