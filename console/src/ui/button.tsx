import type { ComponentProps } from 'react';
import { classes } from './classes.ts';
import { Icon, type IconName } from './icon.tsx';

const kinds = {
  plain: 'border-line-strong bg-raised hover:bg-hover',
  primary: 'border-accent bg-accent text-on-accent hover:brightness-110',
  quiet: 'border-transparent bg-transparent hover:bg-hover',
  danger: 'border-critical bg-transparent text-critical hover:bg-critical-surface',
} as const;

interface ButtonProps extends ComponentProps<'button'> {
  readonly kind?: keyof typeof kinds;
  readonly icon?: IconName;
  /** Shows only the icon; `aria-label` must be set and is used as the title, too. */
  readonly iconOnly?: boolean;
  /** Makes it at least 48 pixels high, for a thumb in a hurry. */
  readonly isBig?: boolean;
}

/** A button, with `type="button"` by default. */
export function Button({
  kind = 'plain',
  icon,
  iconOnly = false,
  isBig = false,
  className,
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      title={iconOnly ? rest['aria-label'] : undefined}
      {...rest}
      className={classes(
        'inline-flex items-center justify-center gap-1.5 rounded-md border',
        // A command is of no use on paper.
        'disabled:cursor-not-allowed disabled:opacity-50 print:hidden',
        isBig ? 'min-h-12 text-lg' : 'min-h-8 text-base whitespace-nowrap pointer-coarse:min-h-11',
        iconOnly ? 'min-w-8 px-1.5 pointer-coarse:min-w-11' : 'px-3',
        kinds[kind],
        className,
      )}
    >
      {icon && <Icon name={icon} />}
      {!iconOnly && children}
    </button>
  );
}
