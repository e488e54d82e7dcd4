import { countries, countriesByAlpha3, isPlateRegion } from '@gantry/contract/plate-regions';
import { knownText } from './fields.ts';
import type { ObservedEvent } from './format.ts';
import type { Confidence } from './observed.ts';

// Where a plate is from. What is no code and no name of a country stays in the metadata only.

/** The languages of the names of countries that are understood, besides English. */
const LANGUAGES = [
  ...['en', 'ar', 'bg', 'cs', 'da', 'de', 'el', 'es', 'fi', 'fr', 'hr', 'hu', 'it', 'nl', 'pl', 'pt', 'ro'],
  ...['ru', 'sk', 'sl', 'sr', 'sv', 'tr', 'uk', 'zh'],
];

/** Names that countries had, or have besides the one in the tables of Unicode; UK is reserved for GB in ISO 3166-1. */
const OTHER_NAMES: readonly (readonly [string, string])[] = [
  ['CZ', 'czech republic'],
  ['GB', 'uk, u.k., great britain'],
  ['KR', 'republic of korea'],
  ['MK', 'macedonia'],
  ['NL', 'the netherlands, holland'],
  ['RU', 'russian federation'],
  ['TR', 'turkey, turkiye'],
  ['US', 'u.s., u.s.a., united states of america'],
];

/** The parts of the countries that issue their plates by parts, by their codes in ISO 3166-2. */
const PARTS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  (
    [
      ['AU', 'ACT NSW NT QLD SA TAS VIC WA'],
      ['CA', 'AB BC MB NB NL NS NT NU ON PE QC SK YT'],
      [
        'US',
        'AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY',
      ],
    ] as const
  ).map(([country, parts]) => [country, new Set(parts.split(' '))]),
);

/** The codes of countries by their names in lower case; names that belong to several are left out. */
let names: ReadonlyMap<string, string | null> | undefined;

function namesOfCountries(): ReadonlyMap<string, string | null> {
  const found = new Map<string, string | null>();
  const add = (name: string | undefined, code: string): void => {
    if (name === undefined) return;
    const key = name.toLowerCase();
    found.set(key, (found.get(key) ?? code) === code ? code : null);
  };
  for (const language of LANGUAGES) {
    const display = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' });
    for (const code of countries) add(display.of(code), code);
  }
  for (const [code, others] of OTHER_NAMES) for (const name of others.split(', ')) add(name, code);
  return found;
}

/** Longer texts are not looked up as names of countries, in characters. */
const NAME_MAX = 60;

/** The alpha-2 code of the country that a device names by a code of ISO 3166-1 or in words; null for anything else. */
export function countryOf(value: unknown): string | null {
  const text = knownText(value);
  if (text === null || text.length > NAME_MAX) return null;
  const code = text.toUpperCase();
  if (countries.has(code)) return code;
  names ??= namesOfCountries();
  return countriesByAlpha3.get(code) ?? names.get(text.toLowerCase()) ?? null;
}

/**
 * Where a plate is from, as `plateRegion` of an event: by a code such as `us-ca`, or else by the country, with the part of
 * it where plates are issued by parts. Null where a device says it in another way.
 */
export function plateRegionOf(country: unknown, part: unknown): string | null {
  const code = knownText(part)?.toUpperCase() ?? '';
  if (code.includes('-') && isPlateRegion(code)) return code;
  const of = countryOf(country);
  return of !== null && PARTS.get(of)?.has(code) ? `${of}-${code}` : of;
}

/** What a device says of a plate that it read. The country may be that of the metadata. */
export function plateFieldsOf(
  { country, countryName, region }: Readonly<Record<string, unknown>>,
  confidence: Partial<Confidence> | null | undefined,
): Pick<ObservedEvent, 'plateRegion' | 'plateConfidence'> {
  const plateRegion = plateRegionOf(country, region) ?? countryOf(countryName);
  const share = confidence?.confidence;
  return {
    ...(plateRegion !== null && { plateRegion }),
    ...(share !== undefined && { plateConfidence: Math.round(share * 100) }),
  };
}
