import type { ReactNode } from 'react';
import { classes } from './classes.ts';
import { Icon, type IconName } from './icon.tsx';

/** How far a state is from normal. `calm` and `good` are normal. */
export type Tone = 'calm' | 'good' | 'low' | 'medium' | 'high' | 'critical';

/** How a state is shown. */
export interface Look {
  readonly tone: Tone;
  readonly icon: IconName;
}

/** The text colour class of each tone. */
export const toneLetters: Readonly<Record<Tone, string>> = {
  calm: 'text-muted',
  good: 'text-good',
  low: 'text-low',
  medium: 'text-medium',
  high: 'text-high',
  critical: 'text-critical',
};
const surfaces: Readonly<Record<Tone, string>> = {
  calm: 'bg-hover',
  good: 'bg-good-surface',
  low: 'bg-hover',
  medium: 'bg-medium-surface',
  high: 'bg-high-surface',
  critical: 'bg-critical-surface',
};

interface BadgeProps extends Look {
  readonly children: ReactNode;
  /** Draws a background, for states that must stand out. */
  readonly filled?: boolean;
}

/** A state, always as icon and text, in the colour of its tone. */
export function Badge({ tone, icon, children, filled = false }: BadgeProps) {
  return (
    <span
      className={classes(
        'inline-flex max-w-full items-center gap-1 rounded align-bottom whitespace-nowrap',
        toneLetters[tone],
        filled && `px-1.5 py-0.5 ${surfaces[tone]}`,
      )}
    >
      <Icon name={icon} size={14} />
      {children}
    </span>
  );
}
