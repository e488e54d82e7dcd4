import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createLocalTime } from '../src/platform/local-time.ts';
import type { Column, ReportDocument, Row, Section } from '../src/reports/document.ts';
import { pdf, shareOut } from '../src/reports/formats/pdf.ts';
import { xlsx } from '../src/reports/formats/xlsx.ts';
import {
  linesSeen,
  type PdfElement,
  readDrawnTexts,
  readPdf,
  readStructures,
  readXlsx,
} from './report-reading.ts';

const settings: ReportDocument['settings'] = {
  timezone: 'Europe/Vienna',
  dateFormat: 'DD.MM.YYYY',
  use24HourFormat: true,
} as ReportDocument['settings'];

const columns: readonly Column[] = [
  { name: 'Time', type: 'time', width: 15 },
  { name: 'Plate', type: 'text', width: 10 },
  { name: 'Vehicles', type: 'integer', width: 9 },
  { name: 'Status', type: 'text', width: 9 },
  { name: 'Place', type: 'text', width: 16 },
  { name: 'Availability', type: 'share', width: 4 },
  ...['Event type', 'Violation', 'Vehicle type', 'Severity'].map(
    (name): Column => ({ name, type: 'text', width: 14 }),
  ),
];

const write = async (given: Partial<ReportDocument> & { table?: readonly Row[] }, format = pdf) => {
  const { table = [], ...rest } = given;
  const to = new PassThrough();
  const written = buffer(to);
  const document: ReportDocument = {
    title: 'Test',
    facts: [],
    columns,
    rows: (async function* () {
      yield table;
    })(),
    settings,
    summary: async () => ({ figures: [], charts: [] }),
    ...rest,
  };
  const count = await format.write(document, to);
  return { count, bytes: new Uint8Array(await written) };
};

const NOON = new Date('2026-03-29T10:00:00Z');
const withPlate = (plate: string): Row => [NOON, plate, 1, 'OPEN', 'Ring', 1];

/** Writes a PDF with a plate. @returns the plate in visual order, from left to right */
const seen = async (plate: string): Promise<string> => {
  const { bytes } = await write({ table: [withPlate(plate)] });
  const [page = []] = await readDrawnTexts(bytes);
  const line = linesSeen(page).find((each) => each.includes('OPEN')) ?? '';
  return line
    .replace(/^.*\d\d:00:00(\|AM|\|PM)?\|?/, '')
    .replace(/\|?1\|OPEN.*$/, '')
    .replaceAll('|', '');
};

describe('a text in a PDF', () => {
  it.each([
    ['of Arabic letters and digits', 'أ ب ج ١٢٣٤', '١٢٣٤ ج ب أ'],
    ['of European digits before Arabic letters', '1234 أ ب', 'ب أ 1234'],
    ['of Persian digits', '۱۲ ب ۳۴۵', '۳۴۵ ب ۱۲'],
    ['of Hebrew letters', 'אב 12-345', '12-345 בא'],
    ['with brackets among Hebrew', 'א (בג) 5', '5 (גב) א'],
    ['that begins with a Latin letter', 'W 12 אב', 'W 12 בא'],
    ['that says it goes the other way', 'AB\u202eCD', 'ABCD'],
    ['of Latin letters', 'W 123-ÄÖ', 'W 123-ÄÖ'],
    ['of Chinese', '京A·88888', '京A·88888'],
    ['of Thai letters as on plates', 'กข 1234', 'กข 1234'],
  ])('%s appears in visual order', async (_, plate, expected) => {
    expect(await seen(plate)).toBe(expected);
  });

  it('joins Arabic letters', async () => {
    const shapes = async (plate: string) => {
      const { bytes } = await write({ table: [withPlate(plate)] });
      const [page = []] = await readDrawnTexts(bytes);
      return page
        .filter(({ text }) => /\p{Script=Arabic}/u.test(text))
        .reduce((sum, { width }) => sum + width, 0);
    };
    // An initial, a medial and a final form are narrower than three isolated letters.
    expect(await shapes('سسس')).toBeLessThan((await shapes('س س س')) * 0.9);
  });

  it('shows emoji', async () => {
    const { bytes } = await write({ table: [withPlate('🚗 12')] });
    expect((await readPdf(bytes)).join(' ')).toContain('🚗');
    expect(Buffer.from(bytes).includes('NotoEmoji')).toBe(true);
  });

  it('that cannot be shown is replaced by a name, with a note', async () => {
    const { bytes } = await write({ table: [withPlate('MH 12 दे 1433')] });
    const text = (await readPdf(bytes)).join(' ').replaceAll(/\s+/g, ' ');
    expect(text).not.toMatch(/\p{Script=Devanagari}/u);
    expect(text).toContain('[Devanagari]');
    expect(text).toContain('replaced by the name of its script in brackets: [Devanagari]');
    const { bytes: without } = await write({ table: [withPlate('W 1')] });
    expect((await readPdf(without)).join(' ')).not.toContain('in brackets');
  });
});

const countRectangles = (bytes: Uint8Array): number => {
  const streams = Buffer.from(bytes)
    .toString('latin1')
    .matchAll(/\/FlateDecode\s*>>\s*stream\n(.*?)\nendstream/gs);
  const contents = [...streams].map(([, stream = '']) =>
    inflateSync(Buffer.from(stream, 'latin1')).toString('latin1'),
  );
  return contents.join('\n').match(/ re$/gm)?.length ?? 0;
};

describe('the pages of a PDF', () => {
  const NAME = 'Georgia Ave @ Urbana Dr (northbound, lane 2, opposite the public library)';
  const row: Row = [NOON, 'W 1', 123_456_789_012, 'ACKNOWLEDGED', NAME, 0.99987];

  it('do not truncate names and numbers in the table', async () => {
    const { bytes } = await write({ table: [row] });
    const text = (await readPdf(bytes)).join(' ').replaceAll(/\s+/g, ' ');
    expect(text).not.toContain('…');
    for (const whole of [NAME, '123,456,789,012', 'ACKNOWLEDGED', 'Availability', '99.99 %'])
      expect(text).toContain(whole);
  });

  it('do not truncate them in tiles, bars and axes', async () => {
    const summary: ReportDocument['summary'] = async () => ({
      figures: [
        {
          name: 'A mean time that has a very long name, to acknowledge and to resolve',
          value: 9_876_543_210_123,
        },
        { name: 'Most at', value: `${NAME} (1,234,567)` },
        ...['a', 'b', 'c'].map((name) => ({ name, value: 1 })),
      ],
      charts: [
        { title: 'Bars', shape: 'bars', points: [{ label: NAME, value: 8_888_888_888_888 }] },
        { title: 'Course', shape: 'columns', points: [{ label: '29.03.2026 10:00:00 AM', value: 7e12 }] },
      ],
    });
    const { bytes } = await write({ summary });
    const text = (await readPdf(bytes)).join(' ').replaceAll(/\s+/g, ' ');
    expect(text).not.toContain('…');
    for (const whole of [
      '9,876,543,210,123',
      '8,888,888,888,888',
      '8,000,000,000,000',
      '29.03.2026 10:00:00 AM',
    ])
      expect(text).toContain(whole);
    expect(text.split(NAME)).toHaveLength(3);
  });

  it('show a zero in a time series as a line, and a gap as nothing', async () => {
    const drawn = async (value: number | null) => {
      const points = [
        { label: 'first', value: 8 },
        { label: 'second', value },
      ];
      const course = { title: 'Course', shape: 'columns', points } as const;
      const { bytes } = await write({ summary: async () => ({ figures: [], charts: [course] }) });
      return countRectangles(bytes);
    };
    expect(await drawn(0)).toBe((await drawn(null)) + 1);
  });

  it('do not divide a unit in the head of a table', async () => {
    const text = (name: string): Column => ({ name, type: 'text', width: 11.5 });
    const speed: Column = { name: 'Limit (km/h)', type: 'decimal', width: 7 };
    const around = ['Time', 'Event type', 'Violation', 'Plate', 'Type', 'Severity', 'Sensor', 'Location'].map(
      text,
    );
    const { bytes } = await write({ columns: [...around, speed, { ...speed, name: 'Speed (km/h)' }] });
    const [page = []] = await readDrawnTexts(bytes);
    expect(page.filter(({ text: drawn }) => drawn.includes('(km'))).toMatchObject([
      { text: '(km/h)' },
      { text: '(km/h)' },
    ]);
  });

  it('keep content within the page and cells within their column', async () => {
    const { bytes } = await write({ table: [row, [NOON, 'M'.repeat(40), 1, 'W'.repeat(60), 'x', 1]] });
    for (const page of await readDrawnTexts(bytes))
      for (const { x, width } of page) {
        expect(x).toBeGreaterThanOrEqual(35);
        expect(x + width).toBeLessThanOrEqual(842 - 35);
      }
  });

  it.each([10, 11, 12])('show AM or PM at %i on a 12-hour clock', async (hour) => {
    const table: Row[] = [0, 12].map((more) => [
      new Date(Date.UTC(2026, 0, 5, hour - 1 + more)),
      'W 1',
      1,
      'OPEN',
      'Ring',
      1,
    ]);
    const { bytes } = await write({ table, settings: { ...settings, use24HourFormat: false } });
    const text = (await readPdf(bytes)).join(' ').replaceAll(/\s+/g, ' ');
    expect(text).toContain(`${hour}:00:00 ${hour === 12 ? 'PM' : 'AM'}`);
    expect(text).toContain(`${hour}:00:00 ${hour === 12 ? 'AM' : 'PM'}`);
  });
});

/** The roles of an element and of those within it, in reading order, such as `Table(TR(TH TH))`. */
const rolesOf = ({ role, children = [] }: PdfElement): string => {
  const within = children.filter((child) => child.role !== undefined).map(rolesOf);
  return within.length === 0 ? (role ?? '') : `${role}(${within.join(' ')})`;
};

const find = (element: PdfElement, role: string): PdfElement[] => [
  ...(element.role === role ? [element] : []),
  ...(element.children ?? []).flatMap((child) => find(child, role)),
];

describe('assistive technology', () => {
  const two: readonly Column[] = columns.slice(0, 2);
  const summary: ReportDocument['summary'] = async () => ({
    figures: [{ name: 'Vehicles', value: 7 }],
    charts: [
      {
        title: 'Per day',
        shape: 'columns',
        points: [
          { label: '1 May', value: 3 },
          { label: '2 May', value: null },
        ],
      },
    ],
  });

  it('reads a title, facts, figures, charts in words and a table', async () => {
    const facts = [{ name: 'Range', value: 'May' }];
    const { bytes } = await write({
      facts,
      summary,
      columns: two,
      table: [
        [NOON, null],
        [NOON, 'W 1'],
      ],
    });
    const [page] = await readStructures(bytes);
    expect(page && rolesOf(page.root)).toBe(
      'Root(Document(H1 P P Figure H2 Table(TR(TH TH) TR(TD TD) TR(TD TD))))',
    );
    expect(find(page?.root ?? {}, 'Figure')).toMatchObject([{ alt: 'Per day: 1 May: 3; 2 May: no data' }]);
    const file = Buffer.from(bytes).toString('latin1');
    expect(file).toContain('<pdfuaid:part>1</pdfuaid:part>');
    expect(file).toMatch(/\/Lang \(en\)/);
    expect(file).toMatch(/\/DisplayDocTitle true/);
    expect(file).toMatch(/\/Marked true/);
  });

  it('finds everything drawn in an element or left out, and the head of a table once', async () => {
    const table = Array.from({ length: 90 }, (): Row => [NOON, 'أ ب ١٢']);
    const { bytes } = await write({ summary, columns: two, table });
    const pages = await readStructures(bytes);
    expect(pages.length).toBeGreaterThan(2);
    expect(pages.map(({ unmarked }) => unmarked)).toEqual(pages.map(() => 0));
    expect(pages.flatMap(({ root }) => find(root, 'TH'))).toHaveLength(2);
    expect(pages.flatMap(({ root }) => find(root, 'TD'))).toHaveLength(180);
  });
});

describe('the hour that occurs twice', () => {
  const autumn = [
    '2026-10-24T23:30:00Z',
    '2026-10-25T00:30:00Z',
    '2026-10-25T01:30:00Z',
    '2026-10-25T02:30:00Z',
  ];

  it('is shown with its offset, unlike other hours', () => {
    const { show } = createLocalTime(settings);
    expect(autumn.map((at) => show(Date.parse(at)))).toEqual([
      '25.10.2026 01:30:00',
      '25.10.2026 02:30:00 +02:00',
      '25.10.2026 02:30:00 +01:00',
      '25.10.2026 03:30:00',
    ]);
    const lordHowe = createLocalTime({ ...settings, timezone: 'Australia/Lord_Howe' });
    expect(lordHowe.show(Date.parse('2026-04-04T14:45:00Z'))).toContain('01:45:00 +11:00');
    expect(lordHowe.show(Date.parse('2026-04-04T15:15:00Z'))).toContain('01:45:00 +10:30');
    // The hour that is skipped in spring does not occur twice.
    expect(show(Date.parse('2026-03-29T00:30:00Z'))).toBe('29.03.2026 01:30:00');
    expect(show(Date.parse('2026-03-29T01:30:00Z'))).toBe('29.03.2026 03:30:00');
  });

  it('is shown with its offset in PDF and XLSX', async () => {
    const table = autumn.map((at): Row => [new Date(at), 'W 1', 1, 'OPEN', 'Ring', 1]);
    const text = (await readPdf((await write({ table })).bytes)).join(' ').replaceAll(/\s+/g, ' ');
    expect(text).toContain('25.10.2026 02:30:00 +02:00');
    expect(text).toContain('25.10.2026 02:30:00 +01:00');
    const { strFromU8, unzipSync } = await import('fflate');
    const styles = strFromU8(
      unzipSync((await write({ table }, xlsx)).bytes)['xl/styles.xml'] ?? new Uint8Array(),
    );
    const formats = [...styles.matchAll(/formatCode="([^"]*)"/g)].map(([, code = '']) =>
      code.replaceAll('&quot;', '"'),
    );
    expect(formats).toEqual(
      expect.arrayContaining([
        'dd.mm.yyyy hh:mm:ss "+02:00"',
        'dd.mm.yyyy hh:mm:ss "+01:00"',
        'dd.mm.yyyy hh:mm:ss',
      ]),
    );
  });
});

describe('rows that do not all fit', () => {
  it('are divided so that no group gets fewer than another one that needs more', () => {
    const needs = new Map([
      ['a', 100],
      ['b', 3],
      ['c', 50],
    ]);
    expect(shareOut(needs, 1000)).toEqual(needs);
    expect(Object.fromEntries(shareOut(needs, 60))).toEqual({ a: 29, b: 3, c: 28 });
    expect(Object.fromEntries(shareOut(needs, 2))).toEqual({ a: 1, b: 0, c: 1 });
  });

  it('omit the same number in each section, which is stated, after a page for each', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `Place ${String.fromCharCode(65 + n)}`);
    const ofPlace = (name: string, count: number): Row[] =>
      Array.from({ length: count }, (_, n) => [
        new Date(NOON.getTime() + n * 3_600_000),
        'W 1',
        n,
        'OPEN',
        name,
        1,
      ]);
    const counts = new Map(names.map((name, n) => [name, n === 11 ? 20 : 744]));
    const sections: ReportDocument['sections'] = {
      name: 'places',
      columns: [{ name: 'Place', type: 'text', width: 1 }],
      naming: ['Place'],
      idOf: (each) => String(each[4]),
      async *list() {
        for (const name of names)
          yield {
            id: name,
            title: name,
            subtitle: 'Location',
            weight: 1,
            row: [name],
            rowCount: counts.get(name) ?? 0,
            figures: [{ name: 'V85', value: '50 km/h' }],
            charts: [],
          } satisfies Section;
      },
    };
    const { count, bytes } = await write({
      table: names.flatMap((name) => ofPlace(name, counts.get(name) ?? 0)),
      sections,
    });
    expect(count).toBe(1_500);
    const pages = (await readPdf(bytes)).map((page) => page.replaceAll(/\s+/g, ' '));
    expect(pages.length).toBeLessThan(60);
    expect(pages[0]).toContain('All places (12)');
    for (const [n, name] of names.entries()) expect(pages[n + 1]).toMatch(new RegExp(`^ ?${name} `));
    const details = pages[13] ?? '';
    expect(details).toContain(
      'Detail rows are left out for: Place A (the first 134 of 744 are shown), Place B',
    );
    expect(details).toContain('Place K (the first 135 of 744 are shown); the CSV and XLSX have them all.');
    for (const name of names) expect(pages.slice(13).join(' ')).toContain(name);
  });
});

describe('reading a PDF', () => {
  it('leaves no polyfills behind for later tests', async () => {
    const { bytes } = await write({});
    expect(await readPdf(bytes)).toHaveLength(1);
    expect(globalThis).not.toHaveProperty('pdfjsLib');
    expect(globalThis).not.toHaveProperty('__core-js_shared__');
  });
});

describe('a long table in XLSX', () => {
  const PARTS = 40;
  const PART = 500;

  it('is refused before any row is read if there are too many', async () => {
    let isRead = false;
    const rows = (async function* (): AsyncGenerator<Row[]> {
      isRead = true;
      yield [];
    })();
    const document: ReportDocument = {
      title: 'Test',
      facts: [],
      columns,
      rows,
      settings,
      count: async () => 100_001,
      summary: async () => ({ figures: [], charts: [] }),
    };
    const refused = xlsx.write(document, new PassThrough());
    await expect(refused).rejects.toThrow('There are more than 100000 rows');
    expect(isRead).toBe(false);
  });

  it('is written while its rows are read, and read back has all of them', async () => {
    const to = new PassThrough();
    const written = buffer(to);
    let sent = 0;
    to.on('data', (chunk: Uint8Array) => {
      sent += chunk.length;
    });
    let sentBeforeLast = 0;
    const document: ReportDocument = {
      title: 'Test',
      facts: [{ name: 'Time zone', value: 'Europe/Vienna' }],
      columns,
      rows: (async function* () {
        for (let part = 0; part < PARTS; part++) {
          sentBeforeLast = sent;
          yield Array.from({ length: PART }, (_, n): Row => {
            const at = part * PART + n;
            return [
              new Date(NOON.getTime() + at * 1_000),
              ` <W&${at}>\u0007"`,
              at,
              'OPEN',
              null,
              at / 20_000,
            ];
          });
        }
      })(),
      settings,
      summary: async () => ({ figures: [{ name: 'Vehicles', value: 7 }], charts: [] }),
    };
    expect(await xlsx.write(document, to)).toBe(PARTS * PART);
    expect(sentBeforeLast).toBeGreaterThan(100_000);
    const [about = [], data = []] = readXlsx(new Uint8Array(await written));
    expect(about.map(({ A, B }) => [A?.value, B?.value])).toEqual(
      expect.arrayContaining([
        ['Report', 'Test'],
        ['Time zone', 'Europe/Vienna'],
        ['Rows', String(PARTS * PART)],
        ['Vehicles', '7'],
      ]),
    );
    expect(data[0]).toMatchObject({ A: { type: 's', value: 'Time' }, J: { type: 's', value: 'Severity' } });
    expect(data).toHaveLength(PARTS * PART + 1);
    // Midday in Vienna on 29 March 2026, as a spreadsheet counts days, and 19,999 seconds later.
    expect(Number(data[1]?.A?.value)).toBeCloseTo(46_110.5, 6);
    const last = data.at(-1);
    expect(Number(last?.A?.value)).toBeCloseTo(46_110.5 + 19_999 / 86_400, 6);
    expect(last).toMatchObject({
      B: { type: 's', value: ' <W&19999>"' },
      C: { type: 'n', value: '19999' },
      F: { type: 'n', value: '0.99995' },
    });
    expect(last?.E).toBeUndefined();
  });
});

describe('a decimal number in XLSX', () => {
  it('has no format, so that a whole one does not end in a point', async () => {
    const { strFromU8, unzipSync } = await import('fflate');
    const speed: Column = { name: 'Speed (km/h)', type: 'decimal', width: 7 };
    const files = unzipSync((await write({ columns: [speed], table: [[50], [71.5]] }, xlsx)).bytes);
    const read = (name: string) => strFromU8(files[name] ?? new Uint8Array());
    expect(read('xl/worksheets/sheet2.xml')).toContain(
      '<c r="A2"><v>50</v></c></row><row r="3"><c r="A3"><v>71.5</v></c>',
    );
    expect(read('xl/styles.xml')).not.toMatch(/formatCode="[^"]*\.#/);
  });
});
