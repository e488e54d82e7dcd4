import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import {
  directionOf,
  type Language,
  onLanguageChange,
  preferredLanguage,
} from '../../shared/locale/language.ts';

/** Files with texts, by paths such as `../../shared/events/locale/en.json`. */
type Files = Readonly<Record<string, object>>;

const catalogues: Readonly<Record<Language, () => Promise<{ files: Files }>>> = {
  en: () => import('./en.ts'),
  tr: () => import('./tr.ts'),
  ar: () => import('./ar.ts'),
};

/** The texts of pages, which are loaded with the pages, and not with the first load. */
const pageFiles = import.meta.glob<object>('../../pages/**/locale/*.json', { import: 'default' });
/** The namespaces of these texts. */
export type PageNamespace =
  | 'account'
  | 'administration'
  | 'alarms'
  | 'cases'
  | 'certificates'
  | 'connections'
  | 'hits'
  | 'hotlists'
  | 'incidents'
  | 'locations'
  | 'log'
  | 'mine'
  | 'overview'
  | 'reports'
  | 'sensors'
  | 'shift'
  | 'studies'
  | 'traffic'
  | 'watchlist'
  | 'works';
const loadedWithPages = new Set<string>();

/** The namespace of a file: the name of the folder that has the texts. */
const namespaceOf = (path: string): string => path.split('/').at(-3) ?? '';

async function load(language: Language): Promise<void> {
  const { files } = await catalogues[language]();
  for (const [path, texts] of Object.entries(files))
    i18next.addResourceBundle(language, namespaceOf(path), texts);
  await Promise.all([...loadedWithPages].map((namespace) => addPageTexts(language, namespace)));
}

async function addPageTexts(language: string, namespace: string): Promise<void> {
  for (const [path, loadFile] of Object.entries(pageFiles))
    if (path.endsWith(`/${namespace}/locale/${language}.json`))
      i18next.addResourceBundle(language, namespace, await loadFile());
}

/** Loads the texts of a page. From then on, a change of the language loads them too. */
export async function loadPageTexts(namespace: PageNamespace): Promise<void> {
  if (loadedWithPages.has(namespace)) return;
  await addPageTexts(i18next.language, namespace);
  loadedWithPages.add(namespace);
}

async function apply(language: Language): Promise<void> {
  await load(language);
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
  document.documentElement.dir = directionOf(language);
}

/** Initialises i18next and loads the texts of the user's language. To be awaited before the first render. */
export async function startTexts(): Promise<void> {
  await i18next.use(initReactI18next).init({
    lng: 'en',
    fallbackLng: 'en',
    defaultNS: 'common',
    interpolation: { escapeValue: false },
    returnNull: false,
  });
  await apply(preferredLanguage());
  onLanguageChange(() => void apply(preferredLanguage()));
}
