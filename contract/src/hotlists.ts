import { z } from 'zod';
import { plainDate } from './calendars.ts';
import { lookUpReason, severity } from './events.ts';
import {
  hotlistDelimiters,
  hotlistEncodings,
  hotlistImportModes,
  hotlistTolerances,
  hotlistVerifications,
  MAX_LOOK_BACK_DAYS,
  USUAL_LOOK_BACK_DAYS,
} from './hit-values.ts';
import { id } from './id.ts';
import { pageTotals, paging, sortOrder } from './page.ts';
import { role } from './permissions.ts';
import { person } from './person.ts';
import { PLATE_RULES, plateKey } from './plate.ts';
import { showsPlate } from './plate-fields.ts';
import { plateRegion } from './plate-regions.ts';
import { editableText, optionalText, searchText, text, trimmedText } from './text.ts';
import { timeInput } from './time.ts';

// Hotlists: lists of plates in versions, and how they are imported. Their hits are in hits.ts.

/** Maximum number of lists. */
export const MAX_HOTLISTS = 100;
/** Maximum number of entries of all lists together. */
export const MAX_HOTLIST_ENTRIES = 5_000_000;
/** Maximum number of patterns with `*` in all lists together, which every process keeps in memory. */
export const MAX_HOTLIST_PATTERNS = 10_000;
/** Maximum number of entries of a list that tolerates one wrong, missing or additional character. */
export const MAX_ONE_OFF_ENTRIES = 50_000;
/**
 * Number of versions of a list that are kept, the one in force included. Those that this many imports made and replaced are
 * kept besides.
 */
export const HOTLIST_VERSIONS_KEPT = 5;
/** Maximum number of entries of a list for plates that look alike: each read of one is compared with all of them. */
export const MAX_HOTLIST_ALIKE = 1_000;
/** Maximum number of plates of a look-back. */
export const MAX_LOOK_BACK_PLATES = 10_000;
/** Maximum size of an imported file, in bytes. */
export const MAX_HOTLIST_FILE_BYTES = 268_435_456;
/** Maximum number of lines of an imported file. */
export const MAX_HOTLIST_LINES = 1_000_000;

export const hotlistVerification = z
  .enum(hotlistVerifications)
  .describe(
    'Which hits a person has to confirm before others than verifiers learn of them. WHEN_UNSURE: those with a difference, without an image, or with a confidence that is unknown or less than `minConfidence`.',
  );
export type HotlistVerification = z.infer<typeof hotlistVerification>;

export const hotlistTolerance = z
  .enum(hotlistTolerances)
  .describe(
    'How a read may differ from a listed plate. CONFUSABLE: in up to `maxDifferences` characters that look alike. ONE_OFF: in one character that is wrong, missing or additional; such hits are always verified.',
  );
export type HotlistTolerance = z.infer<typeof hotlistTolerance>;

export const hotlistImportMode = z
  .enum(hotlistImportModes)
  .describe('COMPLETE: the file is the whole list. ADD and REMOVE: the file has what changes.');
const publicKey = trimmedText(1_000, 1)
  .optional()
  .describe(
    'An Ed25519 key (RFC 8032): PEM, or its 32 bytes as base64. Then a file without a valid signature in `<file>.sig`, or at `<url>.sig`, is refused.',
  );
export const hotlistSource = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('FOLDER'), mode: hotlistImportMode.default('COMPLETE'), publicKey }),
    z.object({
      type: z.literal('URL'),
      url: trimmedText(2_000, 1).describe('An address with https.'),
      mode: hotlistImportMode.default('COMPLETE'),
      everyMinutes: z.int().min(1).max(10_080).default(60).describe('In minutes.'),
      publicKey,
    }),
  ])
  .describe(
    'Where files of the list come from. FOLDER: `hotlists/<id>/in/` in the data folder of the service, looked into every minute.',
  );
export type HotlistSource = z.infer<typeof hotlistSource>;

/** Maximum number of further columns of an entry. */
const MAX_EXTRA = 10;

/** A column of a file. */
const place = z.union([
  z.int().min(1).max(200).describe('The position of the column, from 1.'),
  text(100, 1).describe('The name of the column in the last header line, ignoring case.'),
  z.object({
    start: z.int().min(1).max(65_536).describe('Position of the first character, from 1.'),
    length: z.int().min(1).max(65_536).describe('Number of characters.'),
  }),
]);
export type HotlistColumn = z.infer<typeof place>;

const templateFields = {
  encoding: z
    .enum(hotlistEncodings)
    .describe('AUTO: UTF-16 if the file begins with its mark, otherwise UTF-8.'),
  layout: z.enum(['DELIMITED', 'FIXED']),
  delimiter: z.enum(hotlistDelimiters),
  headerLines: z
    .int()
    .min(0)
    .max(100)
    .describe('Number of lines before the entries; the last of them names the columns.'),
  dates: z.object({
    format: text(50, 1).describe('As `yyyy-MM-dd`, `dd.MM.yyyy HH:mm` or `MM/dd/yy`; `iso` for ISO 8601.'),
    zone: text(100, 1).nullable().describe("An IANA time zone. null: the service's time zone."),
  }),
  defaultRegion: z.string().nullable().describe('The region of lines without one.'),
  defaultReason: text(500, 1).describe('The reason of lines without one.'),
};
const columnFields = {
  number: place.describe('The column with the number plate.'),
  region: place.nullable().describe('The column with the region.'),
  reason: place.nullable().describe('The column with the reason.'),
  reference: place.nullable().describe('The column with the reference.'),
  from: place.nullable().describe('The column with the time from which an entry is valid.'),
  until: place.nullable().describe('The column with the time until which an entry is valid.'),
  extra: z
    .record(text(50, 1), place)
    .refine((value) => Object.keys(value).length <= MAX_EXTRA, `Use at most ${MAX_EXTRA} further columns`)
    .nullable(),
};

/** How a file is read. */
export const hotlistTemplate = z
  .object({ ...templateFields, columns: z.object(columnFields) })
  .describe('How a file is read. FIXED: columns are given as `{start, length}`.');
export type HotlistTemplate = z.infer<typeof hotlistTemplate>;

const templateInput = z
  .object({
    encoding: templateFields.encoding.default('AUTO'),
    layout: templateFields.layout.default('DELIMITED'),
    delimiter: templateFields.delimiter.default(','),
    headerLines: templateFields.headerLines.default(1),
    columns: z
      .object({
        number: columnFields.number.default('plate'),
        region: columnFields.region.default(null),
        reason: columnFields.reason.default(null),
        reference: columnFields.reference.default(null),
        from: columnFields.from.default(null),
        until: columnFields.until.default(null),
        extra: columnFields.extra.default(null),
      })
      .prefault({}),
    dates: z
      .object({
        format: templateFields.dates.shape.format,
        zone: templateFields.dates.shape.zone.default(null),
      })
      .prefault({ format: 'iso' }),
    defaultRegion: plateRegion.nullable().default(null).describe('The region of lines without one.'),
    defaultReason: templateFields.defaultReason.default('Listed'),
  })
  .describe(hotlistTemplate.description ?? '');
/** The template of a list without one: columns named `plate`, separated by commas. */
export const USUAL_TEMPLATE: HotlistTemplate = templateInput.parse({});

const settings = {
  name: trimmedText(100, 1),
  purpose: editableText(1_000),
  priority: severity.optional(),
  ownerId: id.optional().describe('By default who creates it.'),
  visibleTo: z
    .array(role)
    .max(5)
    .optional()
    .describe('The roles that see a covert list and its hits, besides its owner and administrators.'),
  covert: z
    .boolean()
    .optional()
    .describe('Whether only its owner, administrators and `visibleTo` see it and its hits.'),
  verification: hotlistVerification.optional(),
  tolerance: hotlistTolerance.optional(),
  maxDifferences: z
    .int()
    .min(1)
    .max(2)
    .optional()
    .describe('Number of characters that may look alike instead of being equal. 1 by default.'),
  minConfidence: z.int().min(0).max(100).nullish().describe('In per cent.'),
  repeatMinutes: z
    .int()
    .min(0)
    .max(1_440)
    .optional()
    .describe('Further reads of an entry within this time of the last one belong to its hit. 10 by default.'),
  hitDays: z
    .int()
    .min(1)
    .max(36_500)
    .nullish()
    .describe(
      'Decided hits are removed by the daily run of retention this many whole days (UTC) after their last read, unless a legal hold has their events. null: never.',
    ),
  staleAfterHours: z
    .int()
    .min(1)
    .max(8_760)
    .nullish()
    .describe('The list is stale when nothing has renewed or confirmed it for this long. null: never.'),
  template: templateInput.nullish().describe('How files of the list are read.'),
  source: hotlistSource.nullish(),
  isActive: z.boolean().optional().describe('Whether reads are compared with it.'),
};

export const createHotlistInput = z.object(settings);
export type CreateHotlistInput = z.infer<typeof createHotlistInput>;

export const updateHotlistInput = z.object({
  id,
  ...settings,
  name: settings.name.optional(),
  expectedUpdatedAt: timeInput
    .optional()
    .describe(
      'The `updatedAt` as you saw it. If somebody has changed the list since, nothing changes (CONFLICT).',
    ),
});
export type UpdateHotlistInput = z.infer<typeof updateHotlistInput>;

export const hotlist = z.object({
  id: z.string(),
  name: z.string(),
  purpose: z.string().nullable(),
  priority: severity,
  owner: person,
  visibleTo: z.array(role),
  covert: z.boolean(),
  verification: hotlistVerification,
  tolerance: hotlistTolerance,
  maxDifferences: z.number().describe('Number of characters that may look alike instead of being equal.'),
  minConfidence: z.number().nullable().describe('In per cent.'),
  repeatMinutes: z
    .number()
    .describe('In minutes. Further reads of an entry within this time of the last one belong to its hit.'),
  hitDays: z
    .number()
    .nullable()
    .describe('Number of days after the last read after which decided hits are removed.'),
  staleAfterHours: z.number().nullable().describe('In hours.'),
  template: hotlistTemplate.nullable(),
  source: hotlistSource.nullable(),
  sourceProblem: z.string().nullable().describe('Why the source could not be read the last time.'),
  version: z.number().describe('Rises with each change of its entries.'),
  formerVersions: z
    .array(z.number())
    .describe('The former versions that `revert` can restore, newest first.'),
  entryCount: z.number().describe('Number of entries in force.'),
  refreshedAt: z.date().nullable().describe('When its entries were last changed or confirmed.'),
  isStale: z.boolean(),
  isActive: z.boolean(),
  hitsOf7Days: z.number().describe('Number of hits of the last seven days.'),
  rejectedOf7Days: z.number().describe('Number of these hits that were rejected.'),
  createdBy: person,
  createdAt: z.date(),
  updatedAt: z.date(),
});
export type Hotlist = z.infer<typeof hotlist>;

export const listHotlistsInput = z
  .object({
    ...paging(50),
    search: searchText(200).describe('Part of a name or purpose, ignoring case.'),
    sortBy: z.enum(['name', 'priority', 'refreshedAt']).default('name'),
    sortOrder: sortOrder.default('asc'),
  })
  .prefault({});
export type ListHotlistsInput = z.infer<typeof listHotlistsInput>;
export const hotlistsPage = z.object({ hotlists: z.array(hotlist), ...pageTotals });
export const deleteHotlistOutput = z.object({ success: z.literal(true), id: z.string() });

/** Shorter patterns would match half of the traffic. */
const MIN_CHARACTERS = 2;
const listedPlate = trimmedText(50, 1)
  .refine(
    (plate) => [...plateKey(plate).replaceAll('*', '')].length >= MIN_CHARACTERS,
    'Give at least two letters or digits of the plate besides *',
  )
  .describe(PLATE_RULES);

const entryFields = {
  region: plateRegion.nullish().describe('null: any region matches.'),
  reason: trimmedText(500, 1),
  reference: optionalText(200).describe('As the number of a case.'),
  validFrom: timeInput
    .nullish()
    .describe(
      "Reads from this time on match. A plain date is the start of that day in the service's time zone.",
    ),
  validUntil: timeInput
    .nullish()
    .describe("Reads up to this time match. A plain date is the end of that day in the service's time zone."),
  approvedBy: optionalText(200),
  reviewOn: plainDate.nullish().describe('When somebody should look at it again: YYYY-MM-DD.'),
  extra: z
    .record(text(50, 1), text(500))
    .refine((value) => Object.keys(value).length <= MAX_EXTRA, `Use at most ${MAX_EXTRA} further fields`)
    .refine((value) => JSON.stringify(value).length <= 1_024, 'Use at most 1,024 characters')
    .nullish(),
};

export const hotlistEntry = z.object({
  id: z.string().describe('The same in all versions that list the same plate, region and reference.'),
  hotlistId: z.string(),
  plate: showsPlate('plate', z.string()),
  region: z.string().nullable(),
  reason: z.string(),
  reference: z.string().nullable(),
  validFrom: z.date().nullable(),
  validUntil: z.date().nullable().describe('Inclusive.'),
  approvedBy: z.string().nullable(),
  reviewOn: z.string().nullable(),
  extra: z.record(z.string(), z.string()).nullable(),
  sinceVersion: z.number().describe('The version of the list since which it reads like this.'),
});
export type HotlistEntry = z.infer<typeof hotlistEntry>;

const warnings = z
  .array(z.string())
  .describe(
    'What may have been overlooked, as sentences: plates that lists with another priority have, too.',
  );
export const savedHotlistEntry = hotlistEntry.extend({ warnings });
export type SavedHotlistEntry = z.infer<typeof savedHotlistEntry>;

export const listHotlistEntriesInput = z.object({
  hotlistId: id,
  plate: trimmedText(50, 1).optional().describe('Only entries for this plate. This is a recorded search.'),
  ...lookUpReason,
  reason: trimmedText(500, 1).optional().describe('The reason of the search.'),
  ...paging(50),
});
export type ListHotlistEntriesInput = z.infer<typeof listHotlistEntriesInput>;
export const hotlistEntriesPage = z.object({
  entries: z.array(hotlistEntry),
  version: z.number().describe('Of the list.'),
  ...pageTotals,
});

export const findHotlistEntriesInput = z.object({
  plate: trimmedText(50, 1).describe('A whole plate. Case, blanks and hyphens do not matter.'),
  ...lookUpReason,
  reason: trimmedText(500, 1).optional().describe('The reason of the search, which is recorded.'),
  ...paging(50),
});
export type FindHotlistEntriesInput = z.infer<typeof findHotlistEntriesInput>;
export const foundHotlistEntry = hotlistEntry.extend({ hotlistName: z.string() });
export type FoundHotlistEntry = z.infer<typeof foundHotlistEntry>;
export const foundHotlistEntriesPage = z.object({ entries: z.array(foundHotlistEntry), ...pageTotals });

export const addHotlistEntryInput = z.object({ hotlistId: id, plate: listedPlate, ...entryFields });
export type AddHotlistEntryInput = z.infer<typeof addHotlistEntryInput>;
export const updateHotlistEntryInput = z.object({
  id,
  hotlistId: id,
  plate: listedPlate.optional(),
  ...entryFields,
  reason: entryFields.reason.optional(),
  reference: editableText(200),
  approvedBy: editableText(200),
});
export type UpdateHotlistEntryInput = z.infer<typeof updateHotlistEntryInput>;
export const endHotlistEntryInput = z.object({ id, hotlistId: id });
export const endHotlistEntryOutput = z.object({
  success: z.literal(true),
  id: z.string(),
  version: z.number().describe('The new version of the list.'),
});

export const hotlistImportState = z
  .enum([
    'UPLOADED',
    'STAGING',
    'STAGED',
    'APPLYING',
    'APPLIED',
    'UNCHANGED',
    'REFUSED',
    'CANCELLED',
    'FAILED',
  ])
  .describe(
    'UPLOADED: received, `stage` it. STAGING: being read. STAGED: read, `applyImport` or `cancelImport` it. UNCHANGED: the file of the version in force, nothing to do. REFUSED: a guard stopped it, `applyImport` with a reason applies it all the same.',
  );
export type HotlistImportState = z.infer<typeof hotlistImportState>;

const sampleLine = z.object({
  line: z
    .number()
    .nullable()
    .describe('Number of the line. null: the line is not in the file, for entries that end.'),
  plate: showsPlate('plate', z.string()),
  region: z.string().nullable(),
  reason: z.string(),
  reference: z.string().nullable(),
});
const invalidLine = z.object({
  line: z.number().describe('Number of the line, from 1.'),
  text: showsPlate('digits', z.string()),
  problem: showsPlate('digits', z.string()),
});
export const hotlistImportOrigin = z
  .enum(['UPLOAD', 'FOLDER', 'URL', 'REVERT'])
  .describe('REVERT: a former version of the list.');
export const hotlistImport = z.object({
  id: z.string(),
  hotlistId: z.string(),
  mode: hotlistImportMode.nullable(),
  origin: hotlistImportOrigin,
  revertsTo: z.number().nullable().describe('The version of the list that is restored.'),
  fileName: z.string().nullable(),
  sha256: z.string().nullable(),
  bytes: z.number().describe('Size of the file in bytes.'),
  template: hotlistTemplate.nullable(),
  state: hotlistImportState,
  progress: z
    .number()
    .nullable()
    .describe(
      'In per cent: while STAGING, of the bytes of the file that were read; while APPLYING, of the entries that were prepared. Otherwise null.',
    ),
  baseVersion: z.number().nullable().describe('The version with which it was compared.'),
  lines: z.number().nullable().describe('Number of lines with an entry.'),
  added: z.number().nullable().describe('Number of entries that are new.'),
  changed: z.number().nullable().describe('Number of entries that say something else than before.'),
  removed: z.number().nullable().describe('Number of entries that end.'),
  same: z.number().nullable().describe('Number of entries that stay.'),
  invalid: z.number().nullable().describe('Number of lines that cannot be read.'),
  repeated: z
    .number()
    .nullable()
    .describe(
      'Number of lines that repeat an earlier one, with or without differences; the last one counts.',
    ),
  error: z.string().nullable(),
  by: person.nullable().describe('null: the source of the list.'),
  at: z.date(),
  appliedBy: person.nullable(),
  appliedAt: z.date().nullable(),
  version: z.number().nullable().describe('The version that it made.'),
});
export type HotlistImport = z.infer<typeof hotlistImport>;

export const hotlistImportDetail = hotlistImport.extend({
  sample: z
    .object({
      added: z.array(sampleLine),
      changed: z.array(sampleLine),
      removed: z.array(sampleLine),
      invalid: z.array(invalidLine),
    })
    .nullable()
    .describe('Up to 100 lines of each kind.'),
  warnings,
});
export type HotlistImportDetail = z.infer<typeof hotlistImportDetail>;

export const listHotlistImportsInput = z.object({ id, ...paging(20) });
export const hotlistImportsPage = z.object({ imports: z.array(hotlistImport), ...pageTotals });
export const stageHotlistImportInput = z.object({
  importId: id,
  mode: hotlistImportMode.default('COMPLETE'),
  template: templateInput
    .optional()
    .describe('By default that of the list. It becomes that of the list when the import is applied.'),
});
export type StageHotlistImportInput = z.infer<typeof stageHotlistImportInput>;
export const previewHotlistFileInput = z.object({ importId: id, template: templateInput });
export const hotlistFilePreview = z.object({
  lines: z.array(
    z.object({
      line: z.number().describe('Number of the line, from 1.'),
      plate: showsPlate('plate', z.string().nullable()),
      region: z.string().nullable(),
      reason: z.string().nullable(),
      reference: z.string().nullable(),
      validFrom: z.date().nullable(),
      validUntil: z.date().nullable(),
      problem: showsPlate('digits', z.string().nullable()),
    }),
  ),
  columns: z.array(z.string()).describe('The names in the last header line.'),
});
export const applyHotlistImportInput = z.object({
  id,
  expectedVersion: z
    .int()
    .min(0)
    .describe(
      'The version of the list that you saw. If it has changed since, nothing is applied (CONFLICT).',
    ),
  override: optionalText(500).describe('The reason to apply an import that a guard refused.'),
});
export type ApplyHotlistImportInput = z.infer<typeof applyHotlistImportInput>;
export const revertHotlistInput = z.object({
  id,
  version: z.int().min(0).describe('One of the `formerVersions` of the list.'),
});

export const lookBackInput = z
  .object({
    id,
    entryIds: z.array(id).min(1).max(MAX_LOOK_BACK_PLATES).optional(),
    version: z.int().min(1).optional().describe('The entries that this version added.'),
    days: z.int().min(1).max(MAX_LOOK_BACK_DAYS).default(USUAL_LOOK_BACK_DAYS),
  })
  .refine(
    ({ entryIds, version }) => (entryIds === undefined) !== (version === undefined),
    'Give either entryIds or version',
  );
export type LookBackInput = z.infer<typeof lookBackInput>;
export const hotlistLookBack = z.object({
  id: z.string(),
  hotlistId: z.string(),
  kind: z
    .enum(['CHANGE', 'REQUESTED'])
    .describe('CHANGE: the last five minutes, after a change of the list.'),
  state: z.enum(['WAITING', 'RUNNING', 'DONE', 'CANCELLED', 'FAILED']),
  startsAt: z.date(),
  endsAt: z.date(),
  plates: z.number().describe('Number of entries or events to compare.'),
  done: z.number().describe('The number of these that were compared so far.'),
  hits: z.number().describe('The number of reads that were found.'),
  error: z.string().nullable(),
  requestedBy: person.nullable(),
  createdAt: z.date(),
  finishedAt: z.date().nullable(),
});
export type HotlistLookBack = z.infer<typeof hotlistLookBack>;
export const listLookBacksInput = z.object({ id, ...paging(20) });
export const lookBacksPage = z.object({ lookBacks: z.array(hotlistLookBack), ...pageTotals });
