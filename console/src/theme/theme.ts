import { createStored } from '../preferences/stored.ts';

/** `system` follows the setting of the computer. */
export type Theme = 'system' | 'light' | 'dark';
export const themes: readonly Theme[] = ['system', 'light', 'dark'];

const stored = createStored<Theme>('theme', 'system', (value) => themes.includes(value as Theme));
export const useTheme = stored.use;

/** Keeps the choice and applies it to the page. */
export function setTheme(theme: Theme): void {
  stored.set(theme);
}

/** Applies the choice now, and again whenever this or another tab changes it. */
export function applyTheme(): void {
  const apply = () => {
    const theme = stored.get();
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  };
  apply();
  stored.subscribe(apply);
}
