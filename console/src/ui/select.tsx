import { type ComponentProps, useId, useState } from 'react';
import { classes } from './classes.ts';

export interface Option<Value extends string = string> {
  readonly value: Value;
  readonly label: string;
}

interface SelectProps<Value extends string> extends Omit<ComponentProps<'select'>, 'onChange' | 'value'> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly Option<Value>[];
  readonly onChange: (value: Value) => void;
  readonly error?: string | undefined;
  /** Makes the label visible to screen readers only. */
  readonly hideLabel?: boolean;
}

/** A native `select` with its label and validation error. It works with every platform, keyboard and screen reader. */
export function Select<Value extends string>({
  label,
  value,
  options,
  onChange,
  error,
  hideLabel = false,
  className,
  ...rest
}: SelectProps<Value>) {
  const id = useId();
  return (
    <div className={classes('flex flex-col gap-1', className)}>
      <label htmlFor={id} className={hideLabel ? 'sr-only' : 'text-sm text-muted'}>
        {label}
      </label>
      <select
        {...rest}
        id={id}
        value={value}
        aria-invalid={error !== undefined || undefined}
        aria-describedby={error === undefined ? undefined : `${id}-note`}
        onChange={(event) => onChange(event.target.value as Value)}
        className={classes(
          'min-h-8 rounded-md border bg-raised px-2 text-base pointer-coarse:min-h-11',
          error === undefined ? 'border-line-strong' : 'border-critical',
        )}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      {error !== undefined && (
        <p id={`${id}-note`} className="text-sm text-critical">
          {error}
        </p>
      )}
    </div>
  );
}

interface ChoiceFieldProps {
  readonly label: string;
  readonly name: string;
  readonly required?: boolean;
  readonly error?: string | undefined;
  readonly defaultValue: string;
  readonly options: readonly Option[];
  readonly className?: string;
}

/** A select field that keeps its own value; the form reads it by `name`. */
export function ChoiceField({ defaultValue, ...rest }: ChoiceFieldProps) {
  const [value, setValue] = useState(defaultValue);
  return <Select {...rest} value={value} onChange={setValue} />;
}
