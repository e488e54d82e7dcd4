import { useSyncExternalStore } from 'react';
import { useTheme } from './theme.ts';

/** A colour of theme.css, by the name of its custom property without the dashes. */
export type ColorToken =
  | 'bg'
  | 'surface'
  | 'raised'
  | 'line'
  | 'line-strong'
  | 'text'
  | 'muted'
  | 'accent'
  | 'critical'
  | 'high'
  | 'medium'
  | 'low'
  | 'good';

/**
 * The colour as `rgb(…)`, for drawing on a canvas.
 * @param scheme the current colour scheme if omitted
 */
export function tokenColor(token: ColorToken, scheme?: 'light'): string {
  const probe = document.createElement('span');
  if (scheme) probe.style.colorScheme = scheme;
  probe.style.color = `var(--${token})`;
  // Forced colours do not apply to a canvas, and would resolve all tokens to the same colour.
  probe.style.forcedColorAdjust = 'none';
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Whether the dark colour scheme is in use. Drawings on a canvas have to be repainted when this changes. */
export function useIsDark(): boolean {
  const theme = useTheme();
  const system = useSyncExternalStore(subscribe, () => query().matches);
  return theme === 'system' ? system : theme === 'dark';
}

function query(): MediaQueryList {
  return matchMedia('(prefers-color-scheme: dark)');
}

function subscribe(changed: () => void): () => void {
  const list = query();
  list.addEventListener('change', changed);
  return () => list.removeEventListener('change', changed);
}
