import { type ReactNode, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Entered } from '../../../shared/form/form.ts';
import { classes } from '../../../ui/classes.ts';

/** `default`: the default rule of events applies. */
export type Choice = 'default' | 'forever' | 'days';

interface RuleFieldProps {
  /** The path of the rule in the input. */
  readonly name: string;
  readonly label: string;
  /** Days to keep; null: indefinitely; undefined: the default rule applies. */
  readonly days: number | null | undefined;
  readonly hasDefault?: boolean;
  readonly error?: string | undefined;
  readonly hint?: ReactNode;
}

/** A field for the number of days for which a class or event type is kept. */
export function RuleField({ name, label, days, hasDefault = false, error, hint }: RuleFieldProps) {
  const { t } = useTranslation('administration');
  const id = useId();
  const [choice, setChoice] = useState<Choice>(
    days === undefined ? 'default' : days === null ? 'forever' : 'days',
  );
  const choices: readonly Choice[] = hasDefault ? ['default', 'forever', 'days'] : ['forever', 'days'];
  const note = error ?? hint;
  const field = 'min-h-8 rounded-md border bg-raised px-2 pointer-coarse:min-h-11';
  return (
    <div className="grid items-center gap-x-3 gap-y-1 sm:grid-cols-[11rem_1fr]">
      <label htmlFor={id}>{label}</label>
      <div className="flex flex-wrap items-center gap-2">
        <select
          id={id}
          name={`${name} choice`}
          value={choice}
          onChange={(event) => setChoice(event.target.value as Choice)}
          className={`${field} border-line-strong`}
        >
          {choices.map((each) => (
            <option key={each} value={each}>
              {t(`retention.${each}`)}
            </option>
          ))}
        </select>
        {choice === 'days' && (
          <>
            <input
              name={name}
              type="number"
              min={1}
              max={36500}
              required
              inputMode="numeric"
              aria-label={t('retention.daysOf', { name: label })}
              aria-invalid={error !== undefined}
              aria-describedby={note === undefined ? undefined : `${id}-note`}
              defaultValue={days ?? ''}
              className={classes(
                field,
                'figures w-24 text-end',
                error === undefined ? 'border-line-strong' : 'border-critical',
              )}
            />
            <span className="text-muted">{t('retention.unit')}</span>
          </>
        )}
      </div>
      {note !== undefined && (
        <p
          id={`${id}-note`}
          className={classes('text-sm sm:col-start-2', error === undefined ? 'text-muted' : 'text-critical')}
        >
          {note}
        </p>
      )}
    </div>
  );
}

/** Reads the number of days from the form; null: indefinitely. */
export function readRule(entered: Entered, name: string): number | null {
  return entered.text(`${name} choice`) === 'days' ? entered.numberOrNull(name) : null;
}
