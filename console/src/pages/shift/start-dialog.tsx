import type { Shift } from '@gantry/contract/shifts';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { readLogAgain } from '../../shared/log/read-again.ts';
import { api } from '../../shared/service/service.ts';
import { Field } from '../../ui/field.tsx';
import { People, peopleIn } from './people.tsx';

interface StartDialogProps {
  readonly onClose: () => void;
  readonly onStarted: (shift: Shift) => void;
}

/** A form that starts a shift. */
export function StartDialog({ onClose, onStarted }: StartDialogProps) {
  const { t } = useTranslation('shift');
  const form = useForm({
    keep: null,
    read: (entered) => ({ desk: entered.text('desk') || undefined, memberIds: peopleIn(entered) }),
    save: (input) => api.shifts.start.mutate(input),
    onSuccess: (shift) => {
      readLogAgain();
      onStarted(shift);
    },
  });
  return (
    <FormDialog title={t('start')} form={form} onClose={onClose} action={t('start')}>
      <Field label={t('desk')} name="desk" hint={t('deskHint')} maxLength={50} error={form.errorOf('desk')} />
      <People />
    </FormDialog>
  );
}
