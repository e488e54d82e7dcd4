import { type ComponentProps, type ReactNode, useEffect, useId, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Select } from '../../ui/select.tsx';
import { createEnteredTimes, type EnteredKind, formatHint } from '../time/entered.ts';
import { useTimeSettings } from '../time/zone.ts';
import { useKeptField } from './use-kept.tsx';

interface DateFieldProps extends Partial<EnteredKind> {
  readonly label: string;
  /** Places the label before the field, and hides it on narrow screens. */
  readonly isBeside?: boolean;
  /** ISO 8601 in the time zone of the service; empty if nothing is entered. */
  readonly value: string;
  /** Called with each complete value, and with an empty one. */
  readonly onChange: (value: string) => void;
  /** The first and the last day that is accepted. */
  readonly min?: string;
  readonly max?: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  /** The name under which a form reads the value. */
  readonly name?: string;
  readonly required?: boolean;
  readonly className?: string;
}

/** The pause after which a value that is being typed is taken, in milliseconds. */
const PAUSE_MS = 400;

/**
 * A field for a day, or for a day and a time, in the format and the time zone of the service, with the calendar of the
 * browser. The native fields show the format of the browser, in which 11/12 may be another day than on the page.
 */
export function DateField({
  label,
  isBeside = false,
  value,
  onChange,
  withTime = false,
  isEnd = false,
  min,
  max,
  hint,
  error,
  name,
  required,
  className,
}: DateFieldProps) {
  const { t } = useTranslation('common');
  const settings = useTimeSettings();
  const id = useId();
  const calendar = useRef<HTMLInputElement>(null);
  const typed = useTypedDate({ value, onChange, withTime, isEnd, min, max });
  const { shown, found, next, hidden, choose } = typed;
  const message = error ?? typed.error;
  return (
    <div className={classes('flex gap-x-2 gap-y-1', isBeside ? 'items-center' : 'flex-col')}>
      <label htmlFor={id} className={classes('text-sm text-muted', isBeside && 'max-sm:sr-only')}>
        {label}
      </label>
      <div className={classes('relative', className)}>
        <input
          id={id}
          // Dates and times are written from left to right in every language.
          dir="ltr"
          type="text"
          autoComplete="off"
          value={shown}
          placeholder={formatHint(settings, withTime)}
          maxLength={40}
          required={required}
          aria-invalid={message !== undefined}
          aria-describedby={message !== undefined || hint !== undefined ? `${id}-note` : undefined}
          onChange={(event) => typed.type(event.target.value)}
          onBlur={typed.leave}
          onKeyDown={(event) => event.key === 'Enter' && typed.leave()}
          className={classes(
            'figures min-h-8 w-full rounded-md border bg-raised ps-2 pe-9 text-base rtl:text-end pointer-coarse:min-h-11 pointer-coarse:pe-12',
            message === undefined ? 'border-line-strong' : 'border-critical',
          )}
        />
        <input
          ref={calendar}
          type={withTime ? 'datetime-local' : 'date'}
          tabIndex={-1}
          aria-hidden
          value={typed.local}
          min={min && (withTime ? `${min}T00:00` : min)}
          max={max && (withTime ? `${max}T23:59` : max)}
          onChange={({ target }) => typed.chooseLocal(target.value)}
          className="pointer-events-none absolute end-0 bottom-0 h-full w-8 opacity-0"
        />
        <Button
          kind="quiet"
          icon="calendar"
          iconOnly
          aria-label={t('date.calendar')}
          className="absolute end-0 top-0"
          onClick={() => calendar.current?.showPicker()}
        />
      </div>
      {name !== undefined && <input ref={hidden} type="hidden" data-kept name={name} value={next ?? shown} />}
      {found !== undefined && found.length > 1 && (
        <Select
          label={t('date.twice')}
          value={next ?? ''}
          options={found.map((each) => ({ value: each, label: `UTC${each.slice(-6)}` }))}
          onChange={choose}
        />
      )}
      {(message !== undefined || hint !== undefined) && (
        <p
          id={`${id}-note`}
          className={classes('text-sm', message === undefined ? 'text-muted' : 'text-critical')}
        >
          {message ?? hint}
        </p>
      )}
    </div>
  );
}

interface TypedDateOptions extends EnteredKind, Pick<DateFieldProps, 'value' | 'onChange' | 'min' | 'max'> {}

/** The text of a date field while it is edited, and the value that it stands for. */
function useTypedDate({ value, onChange, withTime, isEnd = false, min, max }: TypedDateOptions) {
  const { t } = useTranslation('common');
  const settings = useTimeSettings();
  const times = useMemo(() => createEnteredTimes(settings, { withTime, isEnd }), [settings, withTime, isEnd]);
  const [typed, setTyped] = useState<string | null>(null);
  const [isLeft, setLeft] = useState(false);
  const shown = typed ?? (value && times.show(value));
  const found = shown.trim() === '' ? [] : times.read(shown);
  const outside = found?.some((each) => isOutside(each, min, max)) ?? false;
  const next =
    shown.trim() === '' ? '' : outside ? undefined : (found?.find((each) => each === value) ?? found?.[0]);
  const take = () => next !== undefined && next !== value && onChange(next);
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    if (typed === null || next === undefined || next === value) return;
    const timer = setTimeout(() => latest.current(), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, next, value]);
  // The field may be removed within the pause, for example with the popover that contains it.
  useEffect(() => () => void latest.current(), []);
  // A change from elsewhere, such as a cleared filter, replaces what was typed.
  useEffect(() => {
    setTyped((text) => (text !== null && (times.read(text) ?? ['']).includes(value) ? text : null));
  }, [value, times]);
  const choose = (iso: string) => {
    setTyped(null);
    onChange(iso);
  };
  const hidden = useKeptField(next ?? shown, choose);
  const error =
    typed === null || !isLeft || next !== undefined
      ? undefined
      : found?.length === 0
        ? t('date.skipped')
        : outside
          ? t('date.outside')
          : t('date.unreadable', { format: formatHint(settings, withTime) });
  return {
    /** The text of the field. */
    shown,
    /** The ISO values that the text may stand for: two if the clocks show the time twice; undefined if it is no date. */
    found,
    /** The ISO value; empty if nothing is entered, and undefined if the text is not accepted. */
    next,
    /** The value for the calendar of the browser. */
    local: next === undefined || next === '' ? '' : times.local(next),
    error,
    /** The ref of the hidden field from which a form reads the value. */
    hidden,
    choose,
    chooseLocal(text: string) {
      const [first] = text === '' ? [''] : (times.read(text) ?? []);
      setTyped(null);
      if (first !== undefined && (first === '' || !isOutside(first, min, max))) onChange(first);
    },
    type(text: string) {
      setLeft(false);
      setTyped(text);
    },
    leave() {
      take();
      setLeft(true);
      if (next !== undefined) setTyped(null);
    },
  };
}

function isOutside(iso: string, min: string | undefined, max: string | undefined): boolean {
  const day = iso.slice(0, 10);
  return (min !== undefined && day < min) || (max !== undefined && day > max);
}

type FormDateFieldProps = Omit<ComponentProps<typeof DateField>, 'value' | 'onChange' | 'name'> & {
  readonly name: string;
  readonly defaultValue?: string;
};

/** A date field that keeps its own value; the form reads it by `name`. */
export function FormDateField({ defaultValue = '', ...rest }: FormDateFieldProps) {
  const [value, setValue] = useState(defaultValue);
  return <DateField {...rest} value={value} onChange={setValue} />;
}
