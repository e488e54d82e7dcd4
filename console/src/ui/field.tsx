import { type ComponentProps, type ReactNode, type Ref, useId } from 'react';
import { classes } from './classes.ts';

interface FieldProps extends Omit<ComponentProps<'input'>, 'size'> {
  readonly label: string;
  /** The validation error, shown in place of the hint. */
  readonly error?: string | undefined;
  readonly hint?: ReactNode;
  /** Makes the label visible to screen readers only. */
  readonly hideLabel?: boolean;
  /** Renders a text area with this number of lines. */
  readonly lines?: number;
  /** The ref of the text area, if `lines` is set. */
  readonly area?: Ref<HTMLTextAreaElement>;
}

/** A text input or text area with its label and its hint or validation error. */
export function Field({
  label,
  error,
  hint,
  hideLabel = false,
  lines,
  area,
  className,
  ...rest
}: FieldProps) {
  const id = useId();
  const described = error !== undefined || hint !== undefined;
  const common = {
    ...rest,
    id,
    'aria-invalid': error !== undefined,
    'aria-describedby': described ? `${id}-note` : undefined,
    className: classes(
      'min-h-8 w-full rounded-md border bg-raised px-2 text-base pointer-coarse:min-h-11',
      error === undefined ? 'border-line-strong' : 'border-critical',
    ),
  };
  return (
    <div className={classes('flex flex-col gap-1', className)}>
      <label htmlFor={id} className={hideLabel ? 'sr-only' : 'text-sm text-muted'}>
        {label}
      </label>
      {lines === undefined ? (
        <input dir="auto" {...common} />
      ) : (
        <textarea ref={area} dir="auto" rows={lines} {...(common as ComponentProps<'textarea'>)} />
      )}
      {described && (
        <p
          id={`${id}-note`}
          className={classes('text-sm', error === undefined ? 'text-muted' : 'text-critical')}
        >
          {error ?? hint}
        </p>
      )}
    </div>
  );
}
