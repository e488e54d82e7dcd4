import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MINUTE_MS } from '@gantry/contract/durations';
import { beforeAll, describe, expect, it } from 'vitest';
import { CITY_DAY, CITY_ZONE, sendCityCounts } from './city-count.ts';
import { eventually, sharedGantry } from './harness.ts';
import {
  linesSeen,
  type PdfElement,
  readCsv,
  readDrawnTexts,
  readPdf,
  readStructures,
  readXlsx,
} from './report-reading.ts';

const gantry = await sharedGantry({ overrides: { timings: { sweepReportsMs: 50 } } });
const [admin, operator, analyst, viewer] = [
  await gantry.tokenFor('ADMIN'),
  await gantry.tokenFor('OPERATOR'),
  await gantry.tokenFor('ANALYST'),
  await gantry.tokenFor('VIEWER'),
];
const ask = (procedure: string, input: object, token = analyst) => gantry.ok(procedure, input, { token });

const addSensor = async (name = `Ring ${randomUUID()}`) => {
  const { id: locationId } = await ask('locations.create', { name, speedLimit: 50 }, admin);
  const sensor = { name: 'Radar', deviceId: randomUUID(), type: 'RADAR', locationId };
  const { apiKey } = await ask('sensors.create', sensor, admin);
  return { locationId, apiKey };
};

const fileOf = async (id: string, format: string, token = viewer) => {
  const { id: reportId } = await ask('studies.export', { id, format }, token);
  const report = await eventually(
    () => ask('reports.getById', { id: reportId }, token),
    ({ status }) => status === 'DONE' || status === 'FAILED',
    90_000,
  );
  expect(report).toMatchObject({ status: 'DONE', kind: 'STUDY', studyId: id });
  const answer = await fetch(`${gantry.url}${report.url}`, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(200);
  return new Uint8Array(await answer.arrayBuffer());
};

/** What the program of docs/reference.md says about a file. */
const checkHash = (bytes: Uint8Array): string => {
  const reference = readFileSync(new URL('../../docs/reference.md', import.meta.url), 'utf8');
  const [, program = ''] = /^## Studies$.*?^```js\n(.*?)^```$/ms.exec(reference) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'gantry-study-'));
  try {
    const [script, file] = [join(folder, 'study-hash.mjs'), join(folder, 'study.csv')];
    writeFileSync(script, program);
    writeFileSync(file, bytes);
    return execFileSync(process.execPath, [script, file], { encoding: 'utf8' }).trim();
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const freeze = async (input: object) => {
  const { id } = await ask('studies.create', { title: 'King Street', ...input });
  return ask('studies.freeze', { id });
};

/**
 * Two days of quarter hours of ten vehicles, with a busier one at 08:45; on the second, nothing is known from 05:00 to 06:00,
 * and only a part of the quarter hour from 06:00.
 */
const twoDays = () =>
  Array.from({ length: 192 }, (_, n) => ({
    start: new Date(Date.parse('2026-03-05T05:00:00Z') + n * 15 * MINUTE_MS).toISOString(),
    seconds: 900,
    direction: 'EB',
    volume: n % 96 === 35 ? 20 : 10,
    ...(n === 96 + 24 && { samples: 60, expectedSamples: 100 }),
  })).filter((_, n) => n < 96 + 20 || n >= 96 + 24);

describe('the files of a study', async () => {
  const crossing = await addSensor('King Street & Spadina Avenue');
  const road = await addSensor();
  const counted = await addSensor();
  const week = { startDate: '2026-03-05', endDate: '2026-03-06' };
  const city = { startDate: CITY_DAY, endDate: CITY_DAY };
  beforeAll(async () => {
    await ask('system.timezone.updateTimezoneSettings', { timezone: CITY_ZONE }, admin);
    await sendCityCounts(gantry, crossing.apiKey);
    const start = Date.parse(`${CITY_DAY}T14:00:00Z`);
    const events = Array.from({ length: 200 }, (_, n) => ({
      eventType: 'SPEED_DETECTION',
      timestamp: new Date(start + n * MINUTE_MS).toISOString(),
      vehicleSpeed: 40.5 + (n % 30),
    }));
    await gantry.ok('events.ingestBatch', { apiKey: road.apiKey, events });
    await gantry.ok('counts.ingest', { apiKey: counted.apiKey, periods: twoDays() });
  });

  it.each([
    ['TURNING_MOVEMENTS', () => crossing.locationId],
    ['VOLUME', () => crossing.locationId],
    ['SPEED', () => road.locationId],
  ])('have a table as CSV from which anybody can compute the hash: %s', async (kind, place) => {
    const { id, hash } = await freeze({ kind, locationId: place(), ...city });
    const bytes = await fileOf(id, 'CSV');
    expect(checkHash(bytes)).toBe(`${hash} matches`);
    const changed = new TextDecoder().decode(bytes).replace('\r\n', '\r\n0');
    expect(checkHash(new TextEncoder().encode(changed))).toContain('DOES NOT MATCH');
    const { records, comments } = readCsv(bytes);
    expect(comments).toContain(`SHA-256: ${hash}`);
    expect(comments).toContain(`Time zone: ${CITY_ZONE}`);
    expect(comments).toContain('Status: FROZEN');
    // The title is the author's, and may name the kind already.
    expect(comments[0]).toBe('King Street');
    expect(comments.filter((comment) => comment.startsWith('Kind: '))).toHaveLength(1);
    if (kind === 'SPEED') return;
    expect(records[0]).toMatchObject({
      Start: `${CITY_DAY}T00:00:00.000-05:00`,
      Status: 'GAP',
      Vehicles: '',
      'W T CAR': '',
    });
    expect(records[30]).toMatchObject({
      Status: 'VALID',
      'N PEDESTRIAN': '7',
      'W T CAR': '72',
      'E T CAR': '153',
    });
  });

  it('say that a draft is one', async () => {
    const { id } = await ask('studies.create', {
      kind: 'VOLUME',
      title: 'x',
      ...city,
      locationId: crossing.locationId,
    });
    const { comments } = readCsv(await fileOf(id, 'CSV'));
    expect(comments).toContain('Status: DRAFT');
  });

  describe('as PDF', () => {
    /** The signed study of the city, made once for the tests that read its pages. */
    const makeSigned = async () => {
      const { id, hash } = await freeze({
        kind: 'TURNING_MOVEMENTS',
        locationId: crossing.locationId,
        ...city,
      });
      await ask('studies.sign', { id }, operator);
      return { hash, bytes: await fileOf(id, 'PDF') };
    };
    let made: ReturnType<typeof makeSigned> | undefined;
    const signed = () => {
      made ??= makeSigned();
      return made;
    };

    it('show the printed figures of the city, in tables and in diagrams', async () => {
      const { hash, bytes } = await signed();
      const pages = await readPdf(bytes);
      const [cover = '', diagrams = '', peaks = ''] = pages;
      for (const text of [
        hash,
        'SIGNED',
        'OPERATOR Tester',
        CITY_ZONE,
        '33.3 %',
        'NOT COMPLETE',
        '07:30–09:30',
      ])
        expect(cover).toContain(text);
      for (const page of pages) expect(page).toContain(`SHA-256 ${hash.slice(0, 12)}`);
      expect(pages.at(-1)).toContain(`Page ${pages.length} of ${pages.length}`);
      expect(diagrams).toContain('PM peak hour 16:45–17:45: 1,555 vehicles, PHF 0.974');
      expect(diagrams).toContain('AM peak hour 08:00–09:00: 1,399 vehicles, PHF 0.866');
      expect(peaks).toContain('NORTHBOUND (SOUTH APPROACH)');
      const lines = (await readDrawnTexts(bytes)).flatMap(linesSeen);
      // Westbound through and northbound right, as the city prints them (MOVE).
      expect(lines).toContainEqual(expect.stringMatching(/^Through\|794\|0\.919\|3\.5 %/));
      expect(lines).toContainEqual(expect.stringMatching(/^Right\|8\|0\.667\|/));
      expect(lines).toContainEqual(
        expect.stringMatching(/^All vehicles\|1,399\|0\.866\|.*\|1,555\|0\.974\|/),
      );
      expect(lines).toContainEqual(expect.stringMatching(/^16:45\|17:00\|.*\|380\|69\|25\|PM peak\|VALID$/));
      expect(lines).toContainEqual(expect.stringMatching(/^17:00\|18:00\|.*\|1,552\|.*\|Hour\|VALID$/));
      expect(lines).toContainEqual('00:00|07:30|30 × 15 min|GAP');
      expect(lines).toContainEqual(expect.stringMatching(/\|PARTIAL 50 %$/));
    });

    it('have tags for everything that is drawn, and diagrams in words', async () => {
      const structures = await readStructures((await signed()).bytes);
      expect(structures.map(({ unmarked }) => unmarked)).toEqual(structures.map(() => 0));
      const [am] = structures.flatMap(({ root }) => elementsOf(root, 'Figure'));
      expect(am?.alt).toContain(
        'WESTBOUND (EAST APPROACH): left 54 to the S, through 794 to the W, right 124 to the N',
      );
      expect(am?.alt).toContain('Pedestrians 66 · bicycles 119');
      const [first] = structures;
      expect(elementsOf(first?.root ?? {}, 'H1')).toHaveLength(1);
    });

    it('mark the peak hours of a count, and name every interval that is not whole', async () => {
      const { id } = await freeze({ kind: 'VOLUME', locationId: counted.locationId, ...week });
      const drawn = await readDrawnTexts(await fileOf(id, 'PDF'));
      const lines = drawn.flatMap(linesSeen);
      expect(lines).toContainEqual('Thursday|Friday');
      // 24 hours of four quarters; on the second day, an hour is missing and another is known in part.
      expect(lines).toContainEqual('00:00|40|40|40.0');
      expect(lines).toContainEqual('05:00|40|–|40.0');
      expect(lines).toContainEqual('06:00|40|40 *|40.0');
      expect(lines).toContainEqual('Day|970|930 *|970.0');
      expect(lines).toContainEqual('AM PHF|0.625|0.625');
      expect(lines).toContainEqual('08:00|08:15|10|10|AM peak|VALID');
      expect(lines).toContainEqual('06:00|06:15|10|10|PARTIAL 60 %');
      expect(lines).toContainEqual('05:00|06:00|4 × 15 min|GAP');
      expect(lines).toContainEqual('08:00|09:00|0.625|0.625|AM PHF');
      // No text reaches beyond the margins.
      for (const { x, width } of drawn.flat()) expect(x + width).toBeLessThan(841.89 - 30);
    });

    it('draw the speeds with their percentiles, and say whether the sample is large enough', async () => {
      const { id } = await freeze({ kind: 'SPEED', locationId: road.locationId, ...city });
      const bytes = await fileOf(id, 'PDF');
      const text = (await readPdf(bytes)).join(' ');
      const { figures } = await ask('studies.get', { id });
      for (const each of [
        `V85 ${figures.v85.toFixed(1)}`,
        'Limit 50',
        `Pace ${figures.pace.from}–${figures.pace.to}`,
      ])
        expect(text).toContain(each);
      expect(text).toMatch(/\d+ vehicles are needed; 200 were measured: the sample is large enough/);
      const [drawing] = (await readStructures(bytes)).flatMap(({ root }) => elementsOf(root, 'Figure'));
      expect(drawing?.alt).toContain('40 to under 45: ');
    });

    it('say the result of a comparison in words', async () => {
      const side = { locationId: road.locationId, ...city };
      const { id } = await freeze({ kind: 'COMPARISON', before: side, after: side });
      const text = (await readPdf(await fileOf(id, 'PDF'))).join(' ');
      expect(text).toContain(
        'Mean speed: the same after as before. The difference is not significant at the level of 5 %',
      );
      expect(text).toContain('Welch');
    });

    it('show peak hours by movement', async () => {
      const { id } = await freeze({ kind: 'PEAK_HOURS', locationId: crossing.locationId, ...city });
      const lines = (await readDrawnTexts(await fileOf(id, 'PDF'))).flatMap(linesSeen);
      expect(lines).toContainEqual('PM|16:45|17:45|1,555|0.974|–|–|2.4 %|12|PARTIAL');
      expect(lines).toContainEqual('PM|16:45|17:45|EASTBOUND (WEST APPROACH), through|922|59.3 %|0.956');
    });

    it('say on every page that a draft, or what was rejected, is not for use', async () => {
      const study = { kind: 'VOLUME', locationId: counted.locationId, ...week, endDate: week.startDate };
      const draft = await ask('studies.create', { title: 'x', ...study });
      const rejected = await freeze(study);
      await ask('studies.reject', { id: rejected.id, reason: 'Wrong lane' }, operator);
      for (const [id, word] of [
        [draft.id, 'DRAFT'],
        [rejected.id, 'REJECTED'],
      ]) {
        const drawn = await readDrawnTexts(await fileOf(id, 'PDF'));
        for (const page of drawn)
          expect(page.filter(({ text, size }) => text === word && size > 100)).toHaveLength(1);
        expect(linesSeen(drawn[0] ?? []).join(' ')).toContain('not for use');
      }
    });

    it('say on the first page that the range was not over', async () => {
      const today = new Date().toISOString().slice(0, 10);
      const tomorrow = new Date(Date.now() + 24 * 60 * MINUTE_MS).toISOString().slice(0, 10);
      const range = { startDate: today, endDate: tomorrow };
      const { id } = await freeze({ kind: 'VOLUME', locationId: counted.locationId, ...range });
      const [cover = '', ...pages] = await readPdf(await fileOf(id, 'PDF'));
      expect(cover).toContain('PROVISIONAL: the range was not over when the figures were computed');
      expect(cover).toContain('not known');
      expect(pages.join(' ')).toMatch(/\d+ × 15 min\s+PROVISIONAL/);
    });
  });

  it('as XLSX have the hash and the status first, methods, and figures as numbers', async () => {
    const { id, hash } = await freeze({
      kind: 'TURNING_MOVEMENTS',
      locationId: crossing.locationId,
      ...city,
    });
    const [about = [], methods = [], counts = [], peaks = [], data = []] = readXlsx(await fileOf(id, 'XLSX'));
    const facts = Object.fromEntries(about.map(({ A, B }) => [A?.value, B?.value]));
    expect(facts).toMatchObject({ 'SHA-256': hash, Status: 'FROZEN', 'Time zone': CITY_ZONE });
    const names = methods.map(({ A }) => A?.value);
    for (const name of ['Peak hour factor (PHF)', 'Units', 'PARTIAL', 'GAP', 'SHA-256'])
      expect(names).toContain(name);
    expect(counts[0]?.B?.value).toBe(`From (${CITY_ZONE})`);
    const quarter = counts.find(({ B }) => B?.value === '07:30');
    expect(Object.values(quarter ?? {}).slice(0, 4)).toEqual([
      { type: 's', value: CITY_DAY },
      { type: 's', value: '07:30' },
      { type: 's', value: '07:45' },
      { type: 'n', value: '0' },
    ]);
    expect(counts[1]).not.toHaveProperty('D');
    const all = peaks.find(({ B, E }) => B?.value === 'PM' && E?.value === 'INTERSECTION');
    expect(all).toMatchObject({ G: { type: 'n', value: '1555' }, H: { type: 'n', value: '0.9743' } });
    expect(data[0]?.A?.value).toBe('Start');
    expect(data[1]?.A).toEqual({ type: 's', value: `${CITY_DAY}T00:00:00.000-05:00` });
    expect(data).toHaveLength(97);
  });
});

/** The elements of a role, in reading order. */
function elementsOf(element: PdfElement, role: string): PdfElement[] {
  const below = (element.children ?? []).flatMap((each) => elementsOf(each, role));
  return element.role === role ? [element, ...below] : below;
}
