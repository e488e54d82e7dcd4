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

/** The texts of modules that few users visit. They are loaded with the pages, and not with the first load. */
const laterFiles = import.meta.glob<object>(
  '../../**/{account,administration,connections,locations,reports,studies,traffic}/locale/*.json',
  {
    import: 'default',
  },
);
/** The namespaces of these texts. */
type LaterNamespace =
  | 'account'
  | 'administration'
  | 'connections'
  | 'locations'
  | 'reports'
  | 'studies'
  | 'traffic';
const loadedLater = new Set<string>();

/** The namespace of a file: the name of the folder that has the texts. */
const namespaceOf = (path: string): string => path.split('/').at(-3) ?? '';

async function load(language: Language): Promise<void> {
  const { files } = await catalogues[language]();
  for (const [path, texts] of Object.entries(files))
    i18next.addResourceBundle(language, namespaceOf(path), texts);
  await Promise.all([...loadedLater].map((namespace) => addLaterTexts(language, namespace)));
}

async function addLaterTexts(language: string, namespace: string): Promise<void> {
  for (const [path, loadFile] of Object.entries(laterFiles))
    if (path.endsWith(`/${namespace}/locale/${language}.json`))
      i18next.addResourceBundle(language, namespace, await loadFile());
}

/** Loads texts that are not in the first load. From then on, a change of the language loads them too. */
export async function loadLaterTexts(namespace: LaterNamespace): Promise<void> {
  if (loadedLater.has(namespace)) return;
  await addLaterTexts(i18next.language, namespace);
  loadedLater.add(namespace);
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
