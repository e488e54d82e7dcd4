import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useKept } from '../../../shared/form/use-kept.tsx';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { createStored } from '../../../ui/stored.ts';

const KEPT = 6;
const latestReasons = createStored<readonly string[]>(
  'reject.reasons',
  [],
  (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
);

interface RejectDialogProps {
  readonly open: boolean;
  /** The subject in the title: a plate, an event type, or the number of events. */
  readonly what: string;
  readonly onClose: () => void;
  readonly onReject: (reason: string) => void;
}

/** Asks for the reason for a rejection. It offers the latest reasons, filled up with common ones. */
export function RejectDialog({ open, what, onClose, onReject }: RejectDialogProps) {
  const { t } = useTranslation('events');
  const [reason, setReason] = useState('');
  const kept = useKept(`reject ${what}`);
  const latest = latestReasons.use();
  const common = [t('reject.common.unreadable'), t('reject.common.false'), t('reject.common.duplicate')];
  const offered = [...new Set([...latest, ...common])].slice(0, KEPT);
  const reject = (text: string) => {
    const given = text.trim();
    if (!given) return;
    latestReasons.set([given, ...latest.filter((each) => each !== given)].slice(0, KEPT));
    setReason('');
    onReject(given);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    reject(reason);
  };
  return (
    <Dialog title={t('reject.title', { what })} open={open} onClose={onClose}>
      <form ref={kept.ref} onSubmit={submit} className="flex flex-col gap-3">
        <Field
          label={t('reject.reason')}
          name="reason"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          maxLength={500}
          autoFocus
          required
        />
        <fieldset className="flex flex-wrap gap-2">
          <legend className="sr-only">{t('reject.offered')}</legend>
          {offered.map((each) => (
            <Button key={each} className="max-w-full" onClick={() => reject(each)}>
              <bdi className="one-line">{each}</bdi>
            </Button>
          ))}
        </fieldset>
        <Button kind="primary" type="submit" disabled={!reason.trim()}>
          {t('reject.reject')}
        </Button>
      </form>
    </Dialog>
  );
}
