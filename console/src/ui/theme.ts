import { createStored } from './stored.ts';

/** `system` follows the setting of the operating system. */
export type Theme = 'system' | 'light' | 'dark';
export const themes: readonly Theme[] = ['system', 'light', 'dark'];

const stored = createStored<Theme>('theme', 'system', (value) => themes.includes(value as Theme));
export const useTheme = stored.use;

/** Stores the choice. `applyTheme` applies it to the page. */
export function setTheme(theme: Theme): void {
  stored.set(theme);
}

/** Applies the stored choice to the document, now and whenever it changes in this tab or another one. */
export function applyTheme(): void {
  const apply = () => {
    const theme = stored.get();
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  };
  apply();
  stored.subscribe(apply);
}
