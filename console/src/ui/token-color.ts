import { useCallback, useSyncExternalStore } from 'react';
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
  const isSystemDark = useMedia('(prefers-color-scheme: dark)');
  // Forced colours override the chosen theme (theme.css).
  const isForced = useMedia('(forced-colors: active)');
  return theme === 'system' || isForced ? isSystemDark : theme === 'dark';
}

function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (changed: () => void) => {
      const list = matchMedia(query);
      list.addEventListener('change', changed);
      return () => list.removeEventListener('change', changed);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches);
}
