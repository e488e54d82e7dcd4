import type { Finding } from '@gantry/contract/doctor';
import { useTranslation } from 'react-i18next';

type Value = Finding['values'][string];

interface Sentences {
  readonly finding: string;
  readonly remedy: string | null;
  /** The language of the texts, for the `lang` attribute. */
  readonly language: string;
}

/** The texts of a finding in the language of the console; those of the service, in English, for codes unknown here. */
export function useSentences(): (found: Finding) => Sentences {
  const { t, i18n } = useTranslation('administration');
  // Isolated from the text direction of the sentence: names of files and settings are written from left to right.
  const inWords = (value: Value): string =>
    typeof value === 'number'
      ? value.toLocaleString(i18n.language)
      : typeof value === 'string'
        ? `\u2068${value}\u2069`
        : new Intl.ListFormat(i18n.language).format(value.map((each) => `\u2068${each}\u2069`));
  return ({ code, finding, remedy, values }) => {
    const isKnown = /^\w+$/.test(code) && i18n.exists(`findings.${code}.finding`, { ns: 'administration' });
    if (!isKnown) return { finding, remedy, language: 'en' };
    const words = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, inWords(value)]));
    const say = (part: 'finding' | 'remedy'): string => t(`findings.${code}.${part}` as never, words);
    return {
      finding: say('finding'),
      remedy: remedy === null ? null : say('remedy'),
      language: i18n.language,
    };
  };
}
