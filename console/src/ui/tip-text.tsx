import { classes } from './classes.ts';

interface TipTextProps {
  /** The full text. It is shown when the short text has the keyboard focus or is pressed. */
  readonly tip: string;
  readonly className?: string;
  readonly children: string;
}

/** A short text with a tooltip that shows the full text. */
export function TipText({ tip, className, children }: TipTextProps) {
  return (
    <button
      type="button"
      data-tip
      title={tip}
      className={classes('one-line max-w-full cursor-help text-start', className)}
    >
      <bdi>{children}</bdi>
    </button>
  );
}
