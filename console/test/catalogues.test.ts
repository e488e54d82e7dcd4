import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { caseCheckSentences } from '@gantry/contract/case-check-sentences';
import { doctorSentences } from '@gantry/contract/doctor-sentences';
import { incidentTypes } from '@gantry/contract/values';
import i18next from 'i18next';
import { describe, expect, it } from 'vitest';
import { actions } from '../src/pages/administration/activity/actions.ts';
import { createCodeNames } from '../src/shared/events/codes.ts';

const SOURCES = join(import.meta.dirname, '../src');
const LANGUAGES = ['en', 'tr', 'ar'] as const;
type Language = (typeof LANGUAGES)[number];
type Texts = { readonly [key: string]: string | Texts };

/** The folders that have texts, by their names, which are the namespaces. */
const folders = new Map(
  readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(join('locale', 'en.json')))
    .map((path) => [basename(join(path, '../..')), join(SOURCES, path, '..')]),
);
const namespaces = [...folders.keys()].sort();

const read = (namespace: string, language: Language): Texts =>
  JSON.parse(readFileSync(join(folders.get(namespace) ?? '', `${language}.json`), 'utf8'));

const flat = (texts: Texts, before = ''): [string, string][] =>
  Object.entries(texts).flatMap(([key, value]) =>
    typeof value === 'string' ? [[before + key, value]] : flat(value, `${before}${key}.`),
  );

const PLURAL = /_(?:zero|one|two|few|many|other)$/;
/** The keys, with a single key for all plural forms of a text, because the forms differ between languages. */
const keysOf = (texts: Texts): string[] =>
  [...new Set(flat(texts).map(([key]) => key.replace(PLURAL, '#')))].sort();

const placeholders = (text: string): string[] =>
  [...text.matchAll(/\{\{(\w+)(?:, number)?\}\}/g)].map(([, name]) => name ?? '');

it('name every action that the service records', () => {
  const store = readFileSync(join(SOURCES, '../../server/src/activity/store.ts'), 'utf8');
  const [, union = ''] = /type ActivityAction =([^;]+);/.exec(store) ?? [];
  const recorded = [...union.matchAll(/(?:(\w+)|\$\{([^}]+)\})\.(?:\$\{([^}]+)\}|(\w+))/g)].flatMap(
    ([, noun = '', nouns = noun, verb = '', verbs = verb]) => {
      const words = (text: string) => [...text.matchAll(/\w+/g)].map(String);
      return words(nouns).flatMap((one) => words(verbs).map((each) => `${one}.${each}`));
    },
  );
  expect(recorded.length).toBeGreaterThan(60);
  const texts = read('administration', 'en').actions;
  expect(
    flat(texts as Texts)
      .map(([name]) => name)
      .sort(),
  ).toEqual(recorded.sort());
  const offered = Object.entries(actions).flatMap(([noun, verbs]) => verbs.map((verb) => `${noun}.${verb}`));
  expect(offered.sort()).toEqual(recorded);
});

it('have a sentence for every finding of system.doctor; the English one is that of the service', () => {
  const ofService = Object.entries<{ finding: string; remedy?: string }>(doctorSentences).map(
    ([code, { finding, remedy }]) => [code, remedy === undefined ? { finding } : { finding, remedy }],
  );
  expect(read('administration', 'en').findings).toEqual(Object.fromEntries(ofService));
});

it.each(LANGUAGES)('say in %s all that checks of a case find, with the same values', (language) => {
  const said = (read('cases', language).checks as Texts).sentences as Texts;
  const values = (texts: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      Object.entries(texts).map(([code, text]) => [code, [...new Set(placeholders(String(text)))].sort()]),
    );
  expect(values(said)).toEqual(values(caseCheckSentences));
});

it.each(LANGUAGES)('label in %s the codes that events have', async (language) => {
  const [events, common] = [read('events', language), read('common', language)];
  const texts = i18next.createInstance();
  await texts.init({ lng: language, resources: { [language]: { events, common } } });
  const names = createCodeNames(texts.getFixedT(language, ['events', 'common']));
  // The usual names to which the service brings the violations of all makers, and the types of incidents.
  const source = readFileSync(join(SOURCES, '../../device-formats/src/violation-names.ts'), 'utf8');
  const usual = [...source.matchAll(/, '([A-Z_]+)'\]/g)].map(([, name]) => name ?? '');
  expect(usual.length).toBeGreaterThan(10);
  const labels = { ...(events.violations as Texts), ...(common.incidentTypes as Texts) };
  for (const code of [...usual, ...incidentTypes]) {
    expect(names.violation(code)).toBe(labels[code]);
    expect(names.violation(code.toLowerCase())).toBe(labels[code]);
  }
  expect(names.vehicle('car')).toBe((events.vehicles as Texts).CAR);
  expect(names.violation('Own code 7')).toBe('Own code 7');
  expect(names.vehicle('Tractor')).toBe('Tractor');
});

describe.each(namespaces)('the texts of %s', (namespace) => {
  const english = read(namespace, 'en');

  it.each(LANGUAGES)('are complete in %s, and none is empty', (language) => {
    const texts = read(namespace, language);
    expect(keysOf(texts)).toEqual(keysOf(english));
    for (const [key, text] of flat(texts)) expect(text.trim(), key).not.toBe('');
  });

  it.each(LANGUAGES)('have every plural form that %s has', (language) => {
    const texts = new Map(flat(read(namespace, language)));
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
    for (const key of keysOf(english).filter((name) => name.endsWith('#'))) {
      const forms = pluralCategories.filter((form) => !texts.has(key.replace('#', `_${form}`)));
      expect(forms, key).toEqual([]);
    }
  });

  it.each(LANGUAGES)('name in %s only what is filled in', (language) => {
    const known = new Map<string, Set<string>>();
    for (const [key, text] of flat(english)) {
      const name = key.replace(PLURAL, '#');
      known.set(
        name,
        new Set([
          ...(known.get(name) ?? []),
          ...placeholders(text),
          ...(name.endsWith('#') ? ['count'] : []),
        ]),
      );
    }
    for (const [key, text] of flat(read(namespace, language))) {
      for (const name of placeholders(text))
        expect([...(known.get(key.replace(PLURAL, '#')) ?? [])], key).toContain(name);
    }
  });
});
