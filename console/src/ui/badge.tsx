import type { ReactNode } from 'react';
import { classes } from './classes.ts';
import { Icon, type IconName } from './icon.tsx';

/** How far from normal something is. `calm` and `good` are normal. */
export type Tone = 'calm' | 'good' | 'low' | 'medium' | 'high' | 'critical';

/** The class of the letters of a tone. */
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

interface BadgeProps {
  readonly tone: Tone;
  readonly icon: IconName;
  readonly children: ReactNode;
  /** With a surface of its own, for what is to be found at a glance. */
  readonly filled?: boolean;
}

/** A state: always an icon and a text, in a colour that says how far from normal it is. */
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
