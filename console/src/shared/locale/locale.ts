import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { createStored } from '../../ui/stored.ts';

/** The languages of the console, by their native names. */
export const languages = { en: 'English', tr: 'Türkçe', ar: 'العربية' } as const;
export type Language = keyof typeof languages;

const fromRightToLeft: ReadonlySet<Language> = new Set(['ar']);

/** The texts of the feature directories ("rooms"), by the name of the directory, which is the i18next namespace. */
type Catalogue = Readonly<Record<string, object>>;

const catalogues: Readonly<Record<Language, () => Promise<{ catalogue: Catalogue }>>> = {
  en: () => import('../../app/locale/en.ts'),
  tr: () => import('../../app/locale/tr.ts'),
  ar: () => import('../../app/locale/ar.ts'),
};

/** The texts of rooms that few users visit. They are loaded with the pages, and not with the first load. */
const laterTexts = import.meta.glob<object>('../../**/{account,administration,connections}/locale/*.json', {
  import: 'default',
});
const entered = new Set<string>();

const stored = createStored<Language | null>(
  'language',
  null,
  (value) => value === null || isLanguage(value),
);

function isLanguage(value: unknown): value is Language {
  return typeof value === 'string' && Object.hasOwn(languages, value);
}

/** The user's choice, or else the first language of the browser that the console supports, or English. */
function preferred(): Language {
  const chosen = stored.get();
  if (chosen) return chosen;
  const spoken = navigator.languages.map((tag) => tag.split('-')[0]);
  return spoken.find(isLanguage) ?? 'en';
}

async function load(language: Language): Promise<void> {
  const { catalogue } = await catalogues[language]();
  for (const [room, texts] of Object.entries(catalogue)) i18next.addResourceBundle(language, room, texts);
  await Promise.all([...entered].map((room) => addLaterTexts(language, room)));
}

async function addLaterTexts(language: string, room: string): Promise<void> {
  const path = Object.keys(laterTexts).find((each) => each.endsWith(`/${room}/locale/${language}.json`));
  const texts = await laterTexts[path ?? '']?.();
  if (texts) i18next.addResourceBundle(language, room, texts);
}

/** Loads the texts of a room that is not in the first load. From then on, a change of the language loads them too. */
export async function enterRoom(room: 'account' | 'administration' | 'connections'): Promise<void> {
  if (entered.has(room)) return;
  await addLaterTexts(i18next.language, room);
  entered.add(room);
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

/** Initialises i18next and loads the texts of the user's language. To be awaited before the first render. */
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
