import { createStored } from '../../ui/stored.ts';

/** The languages of the console, by their native names. */
export const languages = { en: 'English', tr: 'Türkçe', ar: 'العربية' } as const;
export type Language = keyof typeof languages;

const fromRightToLeft: ReadonlySet<Language> = new Set(['ar']);

const stored = createStored<Language | null>(
  'language',
  null,
  (value) => value === null || isLanguage(value),
);

/** Stores the choice of the user. The texts follow (`startTexts`). */
export const setLanguage: (language: Language) => void = stored.set;

/** Calls `changed` when the choice changes, in this tab or another one. @returns a function that unsubscribes */
export const onLanguageChange = stored.subscribe;

/** The user's choice, or else the first language of the browser that the console supports, or English. */
export function preferredLanguage(): Language {
  const chosen = stored.get();
  if (chosen) return chosen;
  const spoken = navigator.languages.map((tag) => tag.split('-')[0]);
  return spoken.find(isLanguage) ?? 'en';
}

export function directionOf(language: string): 'ltr' | 'rtl' {
  return isLanguage(language) && fromRightToLeft.has(language) ? 'rtl' : 'ltr';
}

function isLanguage(value: unknown): value is Language {
  return typeof value === 'string' && Object.hasOwn(languages, value);
}
