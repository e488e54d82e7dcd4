import type { LookUpReason } from '@gantry/contract/events';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { enteredInto } from '../../shared/form/form.ts';
import { useKept } from '../../shared/form/use-kept.tsx';
import {
  PlatePurposeFields,
  readPlateReason,
  useNeedsReason,
  usePurposes,
} from '../../shared/service/plates.tsx';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';

interface PlateReasonProps {
  readonly why: LookUpReason;
  readonly onWhy: (why: LookUpReason) => void;
}

/** Tells the user that plate searches are recorded, and lets them enter or change the reason. */
export function PlateReason({ why, onWhy }: PlateReasonProps) {
  const { t } = useTranslation(['events', 'session']);
  const purpose = usePurposes().find(({ code }) => code === why.purpose);
  const [text, setText] = useState(why.reason ?? '');
  const kept = useKept('reason for plates');
  const reason = text.trim();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (reason) onWhy({ ...why, reason });
  };
  return (
    <form
      ref={kept.ref}
      onSubmit={submit}
      className="flex flex-wrap items-center gap-2 border-b bg-surface px-3 py-1.5"
    >
      <Icon name="key" className="text-muted" />
      <span className="text-muted">
        {t(why.reason === undefined ? 'plateReason.recorded' : 'plateReason.withReason')}
      </span>
      {[
        [t('session:platePurpose'), purpose?.name],
        [t('session:plateCase'), why.caseNumber],
      ].map(
        ([label, value]) =>
          value !== undefined && (
            <span key={label}>
              <span className="text-muted">{label}:</span> <bdi>{value}</bdi>
            </span>
          ),
      )}
      <Field
        label={t('plateReason.label')}
        name="reason"
        placeholder={t('plateReason.label')}
        hideLabel
        value={text}
        maxLength={500}
        onChange={(event) => setText(event.target.value)}
        className="min-w-40 max-w-96 grow"
      />
      <Button type="submit" disabled={!reason || reason === why.reason}>
        {t('plateReason.record')}
      </Button>
    </form>
  );
}

/** An Enter key press within this time after the form is shown is ignored as accidental, in milliseconds. */
const DELIBERATE_MS = 500;

interface PlateQuestionProps {
  readonly plate: string;
  /** @param why empty to search without a reason */
  readonly onAnswer: (why: LookUpReason) => void;
}

/** Asks why a plate is searched for before the search starts. */
export function PlateQuestion({ plate, onAnswer }: PlateQuestionProps) {
  const { t } = useTranslation('events');
  const [text, setText] = useState('');
  const reason = text.trim();
  const needsReason = useNeedsReason();
  const needsPurpose = usePurposes().length > 0;
  const [askedAt] = useState(() => performance.now());
  const answer = (form: HTMLFormElement) => onAnswer(readPlateReason(enteredInto(form)));
  const kept = useKept(`reason for ${plate}`);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    // Ignores the Enter key that submitted the plate and is still held down: it was not meant for this form.
    if (performance.now() - askedAt > DELIBERATE_MS) answer(event.currentTarget);
  };
  return (
    <form ref={kept.ref} onSubmit={submit} className="mx-auto flex w-full max-w-xl flex-col gap-3 px-4 py-12">
      <p className="flex items-center gap-2 text-lg font-semibold">
        <Icon name="key" className="text-muted" />
        <span className="min-w-0">
          {t('plateReason.title')} <bdi className="font-mono break-all">{plate}</bdi>
        </span>
      </p>
      <p className="text-muted">{t('plateReason.held')}</p>
      <Field
        label={t('plateReason.label')}
        name="reason"
        value={text}
        maxLength={500}
        onChange={(event) => setText(event.target.value)}
        required={needsReason}
        autoFocus
      />
      <PlatePurposeFields errorOf={noError} />
      <Button
        kind="primary"
        type="submit"
        icon="search"
        className="self-start"
        // A pointer click is accepted at once. The click that Enter triggers has `detail` 0 and is left to `submit`.
        onClick={(event) => {
          const { form } = event.currentTarget;
          if (event.detail === 0 || !form?.checkValidity() || (needsReason && !reason)) return;
          // Otherwise the browser would submit a form that is no longer on the page.
          event.preventDefault();
          answer(form);
        }}
      >
        {t(reason || needsReason || needsPurpose ? 'plateReason.search' : 'plateReason.without')}
      </Button>
    </form>
  );
}

const noError = () => undefined;
