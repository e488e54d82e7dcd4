import { type ComponentProps, type ReactNode, type Ref, useId } from 'react';
import { classes } from './classes.ts';

interface FieldProps extends Omit<ComponentProps<'input'>, 'size'> {
  readonly label: string;
  /** What is wrong with what was entered. */
  readonly error?: string | undefined;
  readonly hint?: ReactNode;
  /** The label is said to screen readers and not shown. */
  readonly hideLabel?: boolean;
  /** Makes it an area of so many lines. */
  readonly lines?: number;
  /** Refers to the area, where it is one. */
  readonly area?: Ref<HTMLTextAreaElement>;
}

/** One line, or an area, of text with its label, and what is wrong with it. */
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
