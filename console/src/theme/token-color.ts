import { useSyncExternalStore } from 'react';
import { useTheme } from './theme.ts';

/** A colour of theme.css, by the name of its variable. */
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
 * The colour as `rgb(…)`, for what is drawn on a canvas.
 * @param scheme absent: that of the moment
 */
export function tokenColor(token: ColorToken, scheme?: 'light'): string {
  const probe = document.createElement('span');
  if (scheme) probe.style.colorScheme = scheme;
  probe.style.color = `var(--${token})`;
  // The colours that the system may force on a page do not reach a canvas, and would be one and the same for all of it.
  probe.style.forcedColorAdjust = 'none';
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Whether the page is dark at the moment. What is drawn on a canvas is drawn again when this changes. */
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
