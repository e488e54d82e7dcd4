import type { MarkInImage } from '@gantry/contract/cases';
import type { TimezoneSettings } from '@gantry/contract/system';
import { createLocalTime } from '../../platform/local-time.ts';
import type { Chapter, Column, Figure, FigureRow, PlacedImage, Row, StudyContents } from '../document.ts';
import type { ItemFile, PackageContents } from './contents.ts';

// The pages of case.pdf.

/** What a thread draws; it can be copied to one. */
export interface CaseDocument {
  readonly title: string;
  readonly facts: readonly Figure[];
  readonly settings: TimezoneSettings;
  readonly study: StudyContents;
}

/** An image as it can be drawn, or null if a PDF cannot show it. */
export type DrawnImages = ReadonlyMap<ItemFile, Buffer>;

/** Maximum number of images that are drawn, and of their bytes together: the package has them all. */
const MAX_DRAWN = 8;
const MAX_DRAWN_BYTES = 24_000_000;

const DRAWN_ROLES: readonly string[] = ['FIRST', 'SECOND', 'PLATE', 'OVERVIEW', 'CONTEXT'];
const DRAWN_TYPES: readonly (string | null)[] = ['image/jpeg', 'image/png'];

/** The images that are drawn, the most important ones first. */
export function imagesToDraw({ files }: PackageContents): ItemFile[] {
  const isDrawn = ({ role, item }: ItemFile): boolean =>
    (role === 'ORIGINAL' || role === 'COPY') && DRAWN_TYPES.includes(item.contentType);
  const rank = ({ item }: ItemFile): number => DRAWN_ROLES.indexOf(item.role);
  let bytes = 0;
  return files
    .filter(isDrawn)
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, MAX_DRAWN)
    .filter(({ item }) => {
      bytes += item.bytes ?? 0;
      return bytes <= MAX_DRAWN_BYTES;
    });
}

const column = (name: string, width: number, type: Column['type'] = 'text'): Column => ({
  name,
  type,
  width,
});

function table(columns: readonly Column[], rows: readonly Row[]): Pick<Chapter, 'table'> {
  return { table: { columns, rows: rows.map((cells): FigureRow => ({ cells })) } };
}

const KINDS = { VIOLATION: 'Violation', INCIDENT: 'Incident', HIT: 'Hit of a hotlist' } as const;

/** The pages of a case. @param madeAt Unix milliseconds */
export function documentOf(
  contents: PackageContents,
  {
    id,
    redacted,
    madeAt,
    keyId,
    settings,
    images,
  }: {
    readonly id: string;
    readonly redacted: boolean;
    readonly madeAt: number;
    readonly keyId: string;
    readonly settings: TimezoneSettings;
    readonly images: DrawnImages;
  },
): CaseDocument {
  const { case: row, summary, madeBy } = contents;
  const { show } = createLocalTime(settings);
  const at = (time: Date | null): string | null => time && show(time.getTime());
  const kmh = (value: number | null): string | null => (value === null ? null : `${value} km/h`);
  const facts = Object.entries({
    Case: row.number,
    Kind: KINDS[row.kind],
    Violation: row.violationType,
    Title: row.title,
    Happened: at(row.happenedAt),
    Place: row.locationName,
    Sensor: row.sensorName,
    Plate: row.plate && `${row.plate}${row.plateRegion ? ` (${row.plateRegion})` : ''}`,
    Measured: kmh(row.measuredKmh),
    Tolerance: kmh(row.toleranceKmh),
    Limit: kmh(row.limitKmh),
    Speed: (row.checks ?? []).find(({ name }) => name === 'SPEED')?.message ?? null,
    'Time zone': settings.timezone,
    Package: id,
    Key: keyId,
  }).flatMap(([name, value]) => (value === null ? [] : [{ name, value }]));
  const verified = summary.decidedBy
    ? ([summary.decidedBy, summary.decidedAt] as const)
    : ([summary.secondBy, summary.secondAt] as const);
  return {
    title: `Case ${row.number}`,
    facts,
    settings,
    study: {
      status: row.state,
      statement: row.needsSecond
        ? 'Two persons verified this case, one after the other.'
        : 'One person verified this case: its type needs no second one.',
      header: `Case ${row.number}${redacted ? ', redacted' : ''}`,
      limits: limitsOf(contents, redacted),
      notes: [
        `The files of the package prove this page, not the other way round: manifest.json lists them with their hashes.`,
      ],
      signatures: [
        { act: 'Checked', by: summary.firstBy?.name ?? null, at: at(summary.firstAt) },
        {
          act: summary.decidedBy ? 'Decided' : 'Verified',
          by: verified[0]?.name ?? null,
          at: at(verified[1]),
        },
        { act: 'Package made', by: madeBy.name, at: show(madeAt) },
      ],
      chapters: [
        checksOf(contents),
        linesOf(contents, at),
        certificatesOf(contents),
        ...imageChapters(images, at),
        itemsOf(contents),
        logOf(contents, at),
      ].filter(({ drawings, table: own }) => drawings !== undefined || (own?.rows.length ?? 0) > 0),
      sheets: [],
      methods: [
        {
          name: 'Speed',
          value:
            'What is left of the measured speed after the tolerance of the certificate of calibration is compared with the limit that was in force.',
        },
        {
          name: 'Hashes',
          value:
            'SHA-256 of the bytes as they were received. Each image was compared with its hash when this package was made.',
        },
        { name: 'Log', value: 'Each entry has the hash of the one before. log.json has what is hashed.' },
        {
          name: 'Seals',
          value:
            'Events, certificates and the log were sealed when they were recorded; seal.json proves it. README.txt says how to check the package.',
        },
      ],
    },
  };
}

/** What a reader must not overlook. */
function limitsOf({ case: row, leftOut, log }: PackageContents, redacted: boolean): string[] {
  const failed = (row.checks ?? []).filter(({ result }) => result === 'FAIL').map(({ name }) => name);
  const reasons = log.flatMap(({ action, details }) =>
    action === 'checked' && typeof details.reason === 'string' ? [details.reason] : [],
  );
  return [
    ...(failed.length === 0
      ? []
      : [`Checks that failed: ${failed.join(', ')}. Reason to go on: ${reasons.at(-1) ?? 'none'}`]),
    ...(redacted ? ['The images are copies in which something was made unrecognisable.'] : []),
    ...(leftOut.length === 0 ? [] : [`${leftOut.length} images are left out of this redacted package.`]),
  ];
}

function checksOf({ case: { checks } }: PackageContents): Chapter {
  const rows = (checks ?? []).map(({ name, result, message }) => [name, result, message]);
  return {
    title: 'Checks',
    ...table([column('Check', 2), column('Result', 1), column('What was found', 9)], rows),
  };
}

/** The speed by two line crossings: in which images, and where in them. */
function linesOf(
  { case: { lines }, items, files }: PackageContents,
  at: (time: Date | null) => string | null,
): Chapter {
  const title = 'Second measurement';
  const columns = [column('Line', 1), column('Image', 6), column('Taken', 2), column('Marked at', 3)];
  if (lines === null) return { title, ...table(columns, []) };
  const { first, second, firstMark, secondMark, metres, intervalMs, kmh } = lines;
  const rows = [
    { line: 'First', id: first, mark: firstMark },
    { line: 'Second', id: second, mark: secondMark },
  ].map(({ line, id, mark }) => {
    const item = items.find((each) => each.id === id);
    const file = files.find((each) => item && each.item.sha256 === item.sha256);
    // A redacted package has no originals.
    const image = file?.name ?? `left out (item ${id})`;
    return [line, image, at(item?.capturedAt ?? null), mark ? placeOf(mark) : null];
  });
  return {
    title,
    words: [`${metres} m in ${intervalMs / 1_000} s: ${kmh} km/h`],
    ...table(columns, rows),
  };
}

function placeOf({ x, y }: MarkInImage): string {
  const percent = (share: number): string => `${Math.round(share * 1_000) / 10} %`;
  return `${percent(x)} from the left, ${percent(y)} from the top`;
}

function certificatesOf({ certificates }: PackageContents): Chapter {
  const rows = certificates.map((each) => [
    each.kind,
    each.number,
    each.issuer,
    each.validFrom,
    each.validUntil,
    each.tolerance && `${each.tolerance.fixedKmh} km/h, ${each.tolerance.percent} %`,
    each.sha256,
  ]);
  const columns = [
    column('Kind', 3),
    column('Number', 3),
    column('Issuer', 3),
    column('Valid from', 2, 'time'),
    column('Until', 2, 'time'),
    column('Tolerance', 2),
    column('SHA-256 of the file', 6),
  ];
  return { title: 'Certificates', ...table(columns, rows) };
}

/** Two images on a page. */
function imageChapters(images: DrawnImages, at: (time: Date | null) => string | null): Chapter[] {
  const drawings = [...images].map(([{ name, item }, content]): PlacedImage => {
    const taken = item.capturedAt ? `, taken ${at(item.capturedAt)}` : '';
    return { shape: 'image', title: `${item.role}${taken}`, content, alt: `${item.role}${taken}: ${name}` };
  });
  const files = [...images.keys()];
  return Array.from({ length: Math.ceil(drawings.length / 2) }, (_, n) => ({
    title: n === 0 ? 'Images' : 'Images (continued)',
    words: files.slice(2 * n, 2 * n + 2).map(({ name }) => name),
    drawings: drawings.slice(2 * n, 2 * n + 2),
  }));
}

function itemsOf({ items, files, nameOf }: PackageContents): Chapter {
  const nameOfFile = (sha256: string | null): string | null =>
    files.find(({ item }) => item.sha256 === sha256 && sha256 !== null)?.name ?? null;
  const rows = items.map((item) => [
    item.role,
    item.capturedAt,
    nameOfFile(item.sha256) ?? item.text,
    item.derivedFrom === null ? null : 'Redacted copy',
    nameOf(item.addedBy)?.name ?? 'Gantry',
    item.addedAt,
  ]);
  const columns = [
    column('Item', 2),
    column('Taken', 2, 'time'),
    column('File or text', 9),
    column('Copy', 2),
    column('Added by', 3),
    column('Added', 2, 'time'),
  ];
  return { title: 'Items', ...table(columns, rows) };
}

function logOf({ log, nameOf }: PackageContents, at: (time: Date | null) => string | null): Chapter {
  const rows = log.map(({ seq, at: time, userId, action, details, hash }) => [
    seq,
    at(time),
    userId === null ? 'Gantry' : (nameOf(userId)?.name ?? userId),
    action,
    Object.entries(details)
      .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join('; '),
    hash,
  ]);
  const columns = [
    column('No.', 1, 'integer'),
    column('Time', 3),
    column('Who', 3),
    column('What', 2),
    column('Details', 6),
    column('SHA-256', 6),
  ];
  return { title: 'Log', ...table(columns, rows) };
}
