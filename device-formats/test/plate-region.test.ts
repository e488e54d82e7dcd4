import { countries, isPlateRegion, plateRegion } from '@gantry/contract/plate-regions';
import { describe, expect, it } from 'vitest';
import { withEnoughConfidence } from '../src/compose.ts';
import type { FormatName } from '../src/format.ts';
import { formatNamed } from '../src/formats.ts';
import { countryOf, plateRegionOf } from '../src/plate-region.ts';
import { readBody, readPayload } from './formats/reading.ts';

describe('the country that a device names', () => {
  it.each([
    ['AT', 'AT'],
    [' at ', 'AT'],
    ['AUT', 'AT'],
    ['deu', 'DE'],
    ['POL', 'PL'],
    ['GBR', 'GB'],
    ['UK', 'GB'],
    ['XKX', 'XK'],
    ['Germany', 'DE'],
    ['Deutschland', 'DE'],
    ['España', 'ES'],
    ['SPAIN', 'ES'],
    ['Czechia', 'CZ'],
    ['Czech Republic', 'CZ'],
    ['Türkiye', 'TR'],
    ['Turkey', 'TR'],
    ['Österreich', 'AT'],
    ['المملكة العربية السعودية', 'SA'],
    ['中国', 'CN'],
    ['United States of America', 'US'],
    ['Holland', 'NL'],
  ])('%s is %s', (text, code) => {
    expect(countryOf(text)).toBe(code);
  });

  it.each([
    '',
    'unknown',
    'none',
    '7',
    '086',
    'EU',
    'Europe',
    'D',
    'ZZ',
    'QQQ',
    'Bavaria',
    'x'.repeat(200),
    null,
    7,
  ])('%j is not known', (text) => expect(countryOf(text)).toBeNull());

  it('is found by the code of every country, and by its English name', () => {
    const names = new Intl.DisplayNames('en', { type: 'region' });
    expect(countries.size).toBe(250);
    for (const code of countries) {
      expect(countryOf(code)).toBe(code);
      expect(countryOf(names.of(code))).toBe(code);
    }
  });

  it.each([
    ['us', 'ma', 'US-MA'],
    ['us', 'us-mo', 'US-MO'],
    [null, 'us-ca', 'US-CA'],
    ['us', 'ca-on', 'CA-ON'],
    ['gb', 'gb', 'GB'],
    ['CAN', 'QC', 'CA-QC'],
    // The first letters of German plates are not codes of ISO 3166-2.
    ['DEU', 'A', 'DE'],
    ['CZE', 'Praha', 'CZ'],
    ['us', 'zz', 'US'],
    [null, 'pa', null],
    [null, 'zz-12', null],
    ['EU', 'A', null],
  ])('%s with its part %s is %s', (country, part, region) => {
    expect(plateRegionOf(country, part)).toBe(region);
  });
});

describe('a plate in a message', () => {
  it.each<[FormatName, string, object]>([
    ['axis-lpv', 'axis-lpv-http-post-cammra.json', { plateRegion: 'CZ' }],
    ['axis-lpv', 'axis-lpv-push-new-nonascii-imagearray.json', { plateRegion: 'DE' }],
    ['hikvision', 'hikvision-plates-poll.xml', { plateRegion: 'GB' }],
    ['openalpr', 'openalpr-alpr_group-v2-captured-1.json', { plateRegion: 'US-MA', plateConfidence: 95 }],
    ['openalpr', 'openalpr-alpr_group-v2.json', { plateRegion: 'US-MO', plateConfidence: 94 }],
    ['platerecognizer', 'platerecognizer-stream-webhook-tester.json', { plateRegion: 'US-CA' }],
    ['tattile', 'tattile-msg-doc.xml', { plateRegion: 'ES' }],
    ['verkada', 'verkada-lpr-webhook.json', { plateRegion: 'US-WA' }],
  ])('of %s has its region and confidence (%s)', async (format, file, expected) => {
    const { reports } = await readPayload(formatNamed(format), file);
    const [event] = reports.map((each) => each.event).filter((each) => each.licensePlateNumber);
    expect(event).toMatchObject(expected);
    const share = event?.metadata?.confidence;
    expect(event?.plateConfidence).toBe(typeof share === 'number' ? Math.round(share * 100) : undefined);
  });

  it('has no region where the device sends only a number, which remains in the metadata', async () => {
    const { reports } = await readPayload(formatNamed('hikvision'), 'hikvision-anpr-deepinview-v58.xml');
    expect(reports[0]?.event.plateRegion).toBeUndefined();
    expect(reports[0]?.event.metadata).toMatchObject({ countryCode: '7' });
  });

  it('has neither without a plate', async () => {
    const body = JSON.stringify({ plateText: '', plateCountry: 'DEU', plateConfidence: '0.9', carID: '1' });
    const { reports } = await readBody(formatNamed('axis-lpv'), body);
    for (const { event } of reports) {
      expect(event.licensePlateNumber).toBeNull();
      expect(event).not.toHaveProperty('plateRegion');
      expect(event).not.toHaveProperty('plateConfidence');
    }
  });

  it('loses both with a plate that was read with too little confidence', async () => {
    const { reports } = await readPayload(formatNamed('verkada'), 'verkada-lpr-webhook.json');
    const [report] = reports;
    if (!report) throw new Error('There is no report');
    const read = { ...report.event, metadata: { ...report.event.metadata, confidence: 0.2 } };
    const { event } = withEnoughConfidence(read, { minConfidence: 0.5 });
    expect(event.licensePlateNumber).toBeNull();
    expect([event.plateRegion, event.plateConfidence]).toEqual([undefined, undefined]);
  });
});

describe('plateRegion', () => {
  it.each(['AT', 'US-CA', 'GB-NIR', 'FR-75', 'XK'])('may be %s', (code) => {
    expect(plateRegion.parse(code.toLowerCase())).toBe(code);
    expect(isPlateRegion(code)).toBe(true);
  });

  it.each(['', 'ZZ', 'A', 'AUT', 'US-', 'US-CALI', 'US CA', '-CA', 'ÖS', 'D'])('may not be %j', (code) => {
    const { error } = plateRegion.safeParse(code);
    expect(error?.issues[0]?.message).toContain(
      `There is no ${JSON.stringify(code.toUpperCase())}. Use the code`,
    );
  });
});
