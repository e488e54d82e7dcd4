import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { createStored } from '../preferences/stored.ts';

/** The languages of the console, as their speakers call them. */
export const languages = { en: 'English', tr: 'Türkçe', ar: 'العربية' } as const;
export type Language = keyof typeof languages;

const fromRightToLeft: ReadonlySet<Language> = new Set(['ar']);

/** The texts of each room, by the name of the room. */
type Catalogue = Readonly<Record<string, object>>;

const catalogues: Readonly<Record<Language, () => Promise<{ catalogue: Catalogue }>>> = {
  en: () => import('./en.ts'),
  tr: () => import('./tr.ts'),
  ar: () => import('./ar.ts'),
};

const stored = createStored<Language | null>(
  'language',
  null,
  (value) => value === null || isLanguage(value),
);

function isLanguage(value: unknown): value is Language {
  return typeof value === 'string' && Object.hasOwn(languages, value);
}

/** The user's choice, else the first language of the browser that the console speaks. */
function preferred(): Language {
  const chosen = stored.get();
  if (chosen) return chosen;
  const spoken = navigator.languages.map((tag) => tag.split('-')[0]);
  return spoken.find(isLanguage) ?? 'en';
}

async function load(language: Language): Promise<void> {
  const { catalogue } = await catalogues[language]();
  for (const [room, texts] of Object.entries(catalogue)) i18next.addResourceBundle(language, room, texts);
}

async function apply(language: Language): Promise<void> {
  await load(language);
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
  document.documentElement.dir = directionOf(language);
}

export function directionOf(language: string): 'ltr' | 'rtl' {
  return isLanguage(language) && fromRightToLeft.has(language) ? 'rtl' : 'ltr';
}

/** Loads the texts of the user's language before anything is shown. */
export async function startLocale(): Promise<void> {
  await i18next.use(initReactI18next).init({
    lng: 'en',
    fallbackLng: 'en',
    defaultNS: 'common',
    interpolation: { escapeValue: false },
    returnNull: false,
  });
  await apply(preferred());
  stored.subscribe(() => void apply(preferred()));
}

export function setLanguage(language: Language): void {
  stored.set(language);
}
