import { classes } from './classes.ts';

interface TipTextProps {
  /** All of what the text stands for. It is shown when the text has the focus or is pressed. */
  readonly tip: string;
  readonly className?: string;
  readonly children: string;
}

/** A text that stands for a longer one. */
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
