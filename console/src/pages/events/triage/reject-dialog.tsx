import { useTranslation } from 'react-i18next';
import { useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { Button } from '../../../ui/button.tsx';
import { Field } from '../../../ui/field.tsx';
import { createStored } from '../../../ui/stored.ts';

const KEPT = 6;
const latestReasons = createStored<readonly string[]>(
  'reject.reasons',
  [],
  (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
);

interface RejectDialogProps {
  /** The subject in the title: a plate, an event type, or the number of events. */
  readonly what: string;
  readonly onClose: () => void;
  readonly onReject: (reason: string) => void;
}

/** Asks for the reason for a rejection. It offers the latest reasons, filled up with common ones. */
export function RejectDialog({ what, onClose, onReject }: RejectDialogProps) {
  const { t } = useTranslation('events');
  const latest = latestReasons.use();
  const common = [t('reject.common.unreadable'), t('reject.common.false'), t('reject.common.duplicate')];
  const offered = [...new Set([...latest, ...common])].slice(0, KEPT);
  const reject = (reason: string) => {
    latestReasons.set([reason, ...latest.filter((each) => each !== reason)].slice(0, KEPT));
    onReject(reason);
  };
  const form = useForm({
    keep: `reject ${what}`,
    read: (entered) => entered.text('reason'),
    save: async (reason) => reject(reason),
  });
  return (
    <FormDialog title={t('reject.title', { what })} form={form} onClose={onClose} action={t('reject.reject')}>
      <Field label={t('reject.reason')} name="reason" pattern=".*\S.*" maxLength={500} autoFocus required />
      <fieldset className="flex flex-wrap gap-2">
        <legend className="sr-only">{t('reject.offered')}</legend>
        {offered.map((each) => (
          <Button key={each} className="max-w-full" onClick={() => reject(each)}>
            <bdi className="one-line">{each}</bdi>
          </Button>
        ))}
      </fieldset>
    </FormDialog>
  );
}
