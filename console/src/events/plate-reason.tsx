import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNeedsReason } from '../session/plates.tsx';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';

interface PlateReasonProps {
  readonly reason: string | undefined;
  readonly onReason: (reason: string) => void;
}

/** Says that a search for a plate is recorded, and takes the reason for it. */
export function PlateReason({ reason, onReason }: PlateReasonProps) {
  const { t } = useTranslation('events');
  const [text, setText] = useState(reason ?? '');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim()) onReason(text.trim());
  };
  return (
    <form onSubmit={submit} className="flex flex-wrap items-center gap-2 border-b bg-surface px-3 py-1.5">
      <Icon name="key" className="text-muted" />
      <span className="text-muted">
        {t(reason === undefined ? 'plateReason.recorded' : 'plateReason.withReason')}
      </span>
      <Field
        label={t('plateReason.label')}
        placeholder={t('plateReason.label')}
        hideLabel
        value={text}
        maxLength={500}
        onChange={(event) => setText(event.target.value)}
        className="min-w-40 max-w-96 grow"
      />
      <Button type="submit" disabled={!text.trim() || text.trim() === reason}>
        {t('plateReason.record')}
      </Button>
    </form>
  );
}

/** Nobody has read a question and answered it before this, in milliseconds. */
const DELIBERATE_MS = 500;

interface PlateQuestionProps {
  readonly plate: string;
  /** @param reason null: without one */
  readonly onAnswer: (reason: string | null) => void;
}

/** Asks for the reason of a search for a plate before it begins. */
export function PlateQuestion({ plate, onAnswer }: PlateQuestionProps) {
  const { t } = useTranslation('events');
  const [text, setText] = useState('');
  const reason = text.trim();
  const needsReason = useNeedsReason();
  const [askedAt] = useState(() => performance.now());
  const answer = () => onAnswer(reason || null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // The Enter that ended the plate, or was held, is no answer to the question that it brought.
    if (performance.now() - askedAt > DELIBERATE_MS) answer();
  };
  return (
    <form onSubmit={submit} className="mx-auto flex w-full max-w-xl flex-col gap-3 px-4 py-12">
      <p className="flex items-center gap-2 text-lg font-semibold">
        <Icon name="key" className="text-muted" />
        <span className="min-w-0">
          {t('plateReason.title')} <bdi className="font-mono break-all">{plate}</bdi>
        </span>
      </p>
      <p className="text-muted">{t('plateReason.held')}</p>
      <Field
        label={t('plateReason.label')}
        value={text}
        maxLength={500}
        onChange={(event) => setText(event.target.value)}
        required={needsReason}
        autoFocus
      />
      <Button
        kind="primary"
        type="submit"
        icon="search"
        className="self-start"
        // A press with the pointer is deliberate at once; an Enter comes as a click without one.
        onClick={({ detail }) => detail > 0 && (reason || !needsReason) && answer()}
      >
        {t(reason || needsReason ? 'plateReason.search' : 'plateReason.without')}
      </Button>
    </form>
  );
}
