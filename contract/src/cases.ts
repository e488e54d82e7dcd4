import { z } from 'zod';
import { sentenceValues } from './doctor.ts';
import { filterText } from './event-filters.ts';
import { lookUpReason } from './events.ts';
import { id, storedId } from './id.ts';
import { jsonObject } from './json.ts';
import { pageTotals, paging, sortOrder } from './page.ts';
import { person } from './person.ts';
import { showsPlate } from './plate-fields.ts';
import { messagesOf, resumable } from './realtime.ts';
import { optionalText, searchText, trimmedText } from './text.ts';
import { timeInput, timeRange } from './time.ts';
import {
  caseActions,
  caseCheckNames,
  caseItemRoles,
  caseKinds,
  caseStates,
  checkResults,
  packageStates,
  rejectionCodes,
} from './values.ts';

// Cases: a violation, an incident or a hit that two persons verify before it leaves the house.

/** Maximum number of cases that are not closed. */
export const MAX_OPEN_CASES = 10_000;
/** Maximum numbers of events, of images and of all items of a case. */
export const MAX_CASE_EVENTS = 50;
export const MAX_CASE_IMAGES = 200;
export const MAX_CASE_ITEMS = 500;
/** Maximum number of types of violations in the rules of cases. */
const MAX_TYPES = 200;

export const caseKind = z.enum(caseKinds);
export type CaseKind = z.infer<typeof caseKind>;
export const caseState = z
  .enum(caseStates)
  .describe(
    'CHECKED: one person checked it. VERIFIED: another one agreed, and its items can no longer be changed. DISPUTED: another one did not agree, and a third one decides.',
  );
export const rejectionCode = z.enum(rejectionCodes);
export type CaseRejectionCode = z.infer<typeof rejectionCode>;
export const caseItemRole = z.enum(caseItemRoles);
export type CaseItemRole = z.infer<typeof caseItemRole>;
export const caseCheckName = z
  .enum(caseCheckNames)
  .describe(
    'CERTIFICATES: those of the sensor cover the time. SENSOR: it was ONLINE, and nobody rejected its data. CLOCK: its clock was at most 1 s off in that hour. LIMIT: the speed limit in force is known. SPEED: the speed is above it by more than the tolerance. PLATE: how sure the sensor was of the plate. IMAGES: they are there, and unchanged. SECONDARY: the speed by two line crossings.',
  );
export type CaseCheckName = z.infer<typeof caseCheckName>;
export const checkResult = z.enum(checkResults);
export type CheckResult = z.infer<typeof checkResult>;
export const caseAction = z.enum(caseActions);
export type CaseAction = z.infer<typeof caseAction>;

export const caseCheck = z.object({
  name: caseCheckName,
  result: checkResult,
  message: z.string().describe('What was found, as a sentence, with the figures.'),
  sentences: z
    .array(
      z.object({
        code: z
          .string()
          .describe(
            'Names what was found; the same in every version. case-check-sentences of the contract lists all.',
          ),
        values: sentenceValues.describe('What differs in the sentence of this code, by name.'),
      }),
    )
    .describe(
      'The parts of `message`, for translations. []: it was stored by a version that did not have them.',
    ),
  blocks: z.boolean().describe('Whether the case cannot go on, whatever the reason given.'),
});
export type CaseCheck = z.infer<typeof caseCheck>;

const sha256 = z.string().describe('SHA-256 in hexadecimal digits.');

export const caseItem = z.object({
  id: z.string(),
  role: caseItemRole,
  eventId: z.string().nullable(),
  certificateId: z.string().nullable().describe('Of a CERTIFICATE, which the check adds.'),
  sha256: sha256.nullable().describe('Of the image or file.'),
  bytes: z.number().nullable().describe('Bytes.'),
  contentType: z.string().nullable(),
  url: showsPlate('empty', z.string().nullable()).describe(
    'Get it with the token. null: there is no file, or it is not shown to you.',
  ),
  capturedAt: z.date().nullable(),
  derivedFrom: z
    .string()
    .nullable()
    .describe('The id of the item of which it is a copy with parts made unrecognisable.'),
  text: z.string().nullable().describe('Of a NOTE, or what was noted about an item.'),
  addedBy: person.nullable().describe('null: the service.'),
  addedAt: z.date(),
});
export type CaseItem = z.infer<typeof caseItem>;

export const caseLogEntry = z.object({
  seq: z.number().describe('From 1; none is left out.'),
  at: z.date(),
  by: person.nullable().describe('null: the service, by a rule.'),
  action: caseAction,
  details: jsonObject,
  prev: sha256.describe('The hash of the entry before; 64 zeros in the first one.'),
  hash: sha256.describe(
    'SHA-256 of the canonical JSON (RFC 8785) of `caseId`, `seq`, `at`, `userId`, `action`, `details` and `prev`.',
  ),
});
export type CaseLogEntry = z.infer<typeof caseLogEntry>;

export const caseSummary = z.object({
  id: z.string(),
  number: z.string().describe('Year and serial number: 2026-000123.'),
  kind: caseKind,
  state: caseState,
  version: z.number().describe('Counts the changes.'),
  violationType: z.string().nullable(),
  title: z.string(),
  eventId: z.string().nullable().describe('The first event.'),
  incidentId: z.string().nullable(),
  hitId: z.string().nullable(),
  sensorId: z.string().nullable(),
  sensorName: z.string().nullable(),
  locationName: z.string().nullable(),
  licensePlateNumber: showsPlate('plate', z.string().nullable()),
  plateRegion: z.string().nullable(),
  happenedAt: z.date(),
  openedAt: z.date(),
  openedBy: person.nullable().describe('null: a rule.'),
  needsSecond: z.boolean().describe('Whether a second person must verify it.'),
  firstBy: person.nullable().describe('Who checked it.'),
  firstAt: z.date().nullable(),
  secondBy: person.nullable().describe('Who verified or disputed it.'),
  secondAt: z.date().nullable(),
  decidedBy: person.nullable().describe('Who rejected it, or decided about a dispute.'),
  decidedAt: z.date().nullable(),
  code: rejectionCode.nullable(),
  codeText: z.string().nullable(),
  failed: z.array(caseCheckName).describe('Checks that failed.'),
  lockedAt: z.date().nullable().describe('Since when its items cannot be changed.'),
  closedAt: z.date().nullable(),
});
export type CaseSummary = z.infer<typeof caseSummary>;

/** A place in an image, in shares of its size. */
const markInImage = z.object({
  x: z
    .number()
    .min(0, 'Use a share from 0 to 1')
    .max(1, 'Use a share from 0 to 1')
    .describe('From the left.'),
  y: z.number().min(0, 'Use a share from 0 to 1').max(1, 'Use a share from 0 to 1').describe('From the top.'),
});
export type MarkInImage = z.infer<typeof markInImage>;

export const secondaryMeasurement = z.object({
  first: z.string().describe('The id of the item.'),
  second: z.string().describe('The id of the item.'),
  metres: z.number().describe('The distance of the lines, in m.'),
  intervalMs: z.number().describe('The time between the images, in milliseconds.'),
  kmh: z.number().describe('`metres` / seconds × 3.6.'),
  firstMark: markInImage
    .nullable()
    .describe('Where the vehicle crosses the first line, in shares of the image. null: not marked.'),
  secondMark: markInImage.nullable().describe('The same of the second line.'),
  by: person.nullable(),
  at: z.date(),
});

export const caseExport = z.object({
  id: z.string(),
  caseId: z.string(),
  number: z.string().describe('Of the case.'),
  version: z.number().describe('The version of the case when it was requested.'),
  redacted: z.boolean().describe('Whether it has redacted copies of the images instead of the originals.'),
  status: z.enum(packageStates).describe('FAILED: `error` says why.'),
  progress: z.number().describe('From 0 to 1.'),
  error: z.string().nullable(),
  createdAt: z.date(),
  by: person.nullable(),
  finishedAt: z.date().nullable(),
  sha256: sha256.nullable().describe('Of the file.'),
  bytes: z.number().nullable().describe('Of the file, in bytes.'),
  expiresAt: z.date().nullable().describe('When the file is removed.'),
  fileName: z.string().nullable(),
  url: z.string().nullable().describe('Get it with the token. null: there is no file yet, or not any more.'),
  downloads: z.number().describe('Number of downloads.'),
});
export type CaseExport = z.infer<typeof caseExport>;

export const exportCaseInput = z.object({
  id: id.describe('The id of the case, or its number.'),
  redacted: z
    .boolean()
    .default(false)
    .describe(
      'false: a court package, with the original images. true: with their redacted copies, and without images that have none.',
    ),
});
export type ExportCaseInput = z.infer<typeof exportCaseInput>;
export const getExportInput = z.object({ exportId: id });
export const caseExportDetail = caseExport.extend({
  manifest: z
    .object({
      text: z.string().describe('`manifest.json`, as it was signed.'),
      signature: z.string().describe('`manifest.sig`, in base64.'),
    })
    .nullable()
    .describe('It is kept for ever.'),
});
export type CaseExportDetail = z.infer<typeof caseExportDetail>;

const kmh = z.number().nullable().describe('km/h.');

export const caseDetail = caseSummary.extend({
  measuredKmh: kmh,
  limitKmh: kmh,
  toleranceKmh: kmh,
  speedSentence: z
    .string()
    .nullable()
    .describe(
      'The arithmetic, such as "Measured 78 km/h - 3 km/h tolerance = 75 km/h; limit 50 km/h: 25 km/h over".',
    ),
  checks: z
    .array(caseCheck)
    .describe('Those that concern such a case: of a NEW one as they are now, otherwise as they were stored.'),
  checkedAt: z.date().nullable(),
  lines: secondaryMeasurement.nullable(),
  items: z.array(caseItem),
  log: z.array(caseLogEntry),
  logBrokenAt: z
    .number()
    .nullable()
    .describe('The first entry of the log that was changed, or after which one is missing; null: none.'),
  holdId: z.string().nullable(),
  exports: z.array(caseExport),
});
export type CaseDetail = z.infer<typeof caseDetail>;

const ONE_SUBJECT = { path: ['eventId'], message: 'Name one: eventId, incidentId or hitId' };
export const openCaseInput = z
  .object({
    eventId: id.optional(),
    incidentId: id.optional(),
    hitId: id.optional(),
    kind: caseKind.optional().describe('By default what follows from the subject.'),
  })
  .refine(
    ({ eventId, incidentId, hitId }) =>
      [eventId, incidentId, hitId].filter((given) => given !== undefined).length === 1,
    ONE_SUBJECT,
  );
export type OpenCaseInput = z.infer<typeof openCaseInput>;

export const listCasesInput = z
  .object({
    ...timeRange,
    ...paging(50),
    states: z.array(caseState).max(caseStates.length).optional(),
    kinds: z.array(caseKind).max(caseKinds.length).optional(),
    violationType: filterText(200).describe('The type of violation, ignoring case.'),
    code: rejectionCode.optional(),
    sensorId: id.optional(),
    search: searchText(100).describe(
      'Part of the number, or the plate. All but a year with a hyphen and digits counts as a search for a plate.',
    ),
    ...lookUpReason,
    mine: z
      .enum(['FIRST', 'SECOND'])
      .optional()
      .describe('FIRST: those that you checked. SECOND: those that wait for you as the second person.'),
    closed: z.boolean().optional(),
    sortBy: z
      .enum(['age', 'number'])
      .default('age')
      .describe('`age` descending: what happened first comes first.'),
    sortOrder: sortOrder.default('desc'),
  })
  .prefault({});
export type ListCasesInput = z.infer<typeof listCasesInput>;
export const casesPage = z.object({
  cases: z.array(caseSummary),
  ...pageTotals,
  waiting: z
    .object({
      check: z.number().describe('NEW.'),
      second: z.number().describe('CHECKED by somebody else.'),
      decide: z.number().describe('DISPUTED, and you may decide.'),
    })
    .describe('Number of cases that wait for you, whatever the filters.'),
});

export const caseByIdInput = z.object({ id: id.describe('The id, or the number.') });

const change = {
  id: id.describe('The id, or the number.'),
  expectedVersion: z
    .int()
    .optional()
    .describe(
      'The version that you saw. If somebody has changed the case since, nothing changes (CONFLICT).',
    ),
};
const reason = optionalText(1_000);
const requiredReason = trimmedText(1_000, 1);

const ONE_ITEM = { path: ['eventId'], message: 'Give one: eventId, image or text' };
export const addCaseItemInput = z
  .object({
    ...change,
    role: caseItemRole
      .exclude(['CERTIFICATE'])
      .describe('Of an event with several images, the others get the role CONTEXT.'),
    eventId: storedId.optional(),
    image: z.string().optional().describe('A JPEG, PNG or WebP image in base64, alone or as a `data:` URL.'),
    text: optionalText(4_000),
    derivedFrom: storedId
      .optional()
      .describe('The item of which the image is a copy with parts made unrecognisable.'),
    capturedAt: timeInput.optional().describe('When the image was taken. By default not known.'),
    note: reason,
  })
  .refine(
    ({ eventId, image, text }) =>
      Number(eventId !== undefined) + Number(image !== undefined) + Number(text !== null) === 1,
    ONE_ITEM,
  )
  .refine(({ role, text }) => (role === 'NOTE') === (text !== null) || role === 'RAW_MESSAGE', {
    path: ['role'],
    message: 'A NOTE has a text, and other items have an event or an image',
  })
  .refine(({ image, derivedFrom }) => derivedFrom === undefined || image !== undefined, {
    path: ['derivedFrom'],
    message: 'Only an image is a copy of another item',
  })
  .refine(({ image, capturedAt }) => capturedAt === undefined || image !== undefined, {
    path: ['capturedAt'],
    message: 'Only an image was taken at a time: an event has its own',
  });
export type AddCaseItemInput = z.infer<typeof addCaseItemInput>;

export const measureCaseInput = z
  .object({
    ...change,
    first: storedId.describe('The item that shows the vehicle on the first line.'),
    second: storedId.describe('The item that shows it on the second line.'),
    metres: z
      .number()
      .min(0.1, 'Use a distance from 0.1 to 1000 m')
      .max(1_000, 'Use a distance from 0.1 to 1000 m')
      .describe('The distance of the lines.'),
    intervalMs: z
      .number()
      .min(1, 'Use an interval from 1 to 600000 ms')
      .max(600_000, 'Use an interval from 1 to 600000 ms')
      .optional()
      .describe('The time between the images. By default it follows from when they were taken.'),
    firstMark: markInImage
      .optional()
      .describe('Where the vehicle crosses the first line, in shares of the image. Kept as evidence.'),
    secondMark: markInImage.optional().describe('The same of the second line. Give both marks, or none.'),
  })
  .refine(({ firstMark, secondMark }) => (firstMark === undefined) === (secondMark === undefined), {
    path: ['secondMark'],
    message: 'Give both firstMark and secondMark, or none of them',
  })
  .refine(({ first, second }) => first !== second, {
    path: ['second'],
    message: 'Name another item than the first',
  });
export type MeasureCaseInput = z.infer<typeof measureCaseInput>;

export const checkCaseInput = z.object({
  ...change,
  reason: reason.describe('Why the case goes on although a check failed.'),
});
export type CheckCaseInput = z.infer<typeof checkCaseInput>;

const NEEDS_TEXT = { path: ['text'], message: 'Say why, or choose another code' };
export const rejectCaseInput = z
  .object({ ...change, code: rejectionCode.describe('OTHER requires a text.'), text: reason })
  .refine(({ code, text }) => code !== 'OTHER' || text !== null, NEEDS_TEXT);
export type RejectCaseInput = z.infer<typeof rejectCaseInput>;

export const disputeCaseInput = z.object({ ...change, reason: requiredReason });
export const unlockCaseInput = z.object({ ...change, reason: requiredReason });
export const closeCaseInput = z.object({ ...change, reason });
export type ReasonedCaseInput = z.infer<typeof disputeCaseInput>;
export type CloseCaseInput = z.infer<typeof closeCaseInput>;

export const decideCaseInput = z
  .object({
    ...change,
    decision: z.enum(['VERIFIED', 'REJECTED']),
    code: rejectionCode.optional().describe('Required for REJECTED.'),
    text: reason,
    reason: requiredReason,
  })
  .refine(({ decision, code }) => (decision === 'REJECTED') === (code !== undefined), {
    path: ['code'],
    message: 'A rejection has a code, and nothing else does',
  })
  .refine(({ code, text }) => code !== 'OTHER' || text !== null, NEEDS_TEXT);
export type DecideCaseInput = z.infer<typeof decideCaseInput>;

export const caseStatsInput = z
  .object({ ...timeRange, by: z.enum(['code', 'sensor', 'state', 'type']).default('state') })
  .prefault({});
export type CaseStatsInput = z.infer<typeof caseStatsInput>;
export const caseStats = z.object({
  rows: z
    .array(
      z.object({
        key: z.string().nullable().describe('The code, state or type, or the id of the sensor. null: none.'),
        name: z.string().nullable().describe('Of the sensor.'),
        count: z.number().describe('Number of cases.'),
        rejected: z.number().describe('Of these, how many are REJECTED.'),
        equipment: z.number().describe('Of these, how many with the code EQUIPMENT.'),
      }),
    )
    .describe('At most 1000, the largest first.'),
  total: z.number().describe('Number of all cases of the range.'),
});
export type CaseStats = z.infer<typeof caseStats>;

const violationTypeName = trimmedText(200, 1);
const RETENTION_DAYS_MAX = 36_500;
export const caseRules = z.object({
  secondPerson: z
    .record(z.string(), z.boolean())
    .describe(
      'Types of violations (ignoring case), and whether a second person must verify their cases. All others: true.',
    ),
  openFor: z.array(z.string()).describe('Types of violations for which cases are opened by themselves.'),
  openOn: z
    .enum(['CONFIRMED', 'ARRIVAL'])
    .describe('Whether that happens once somebody has confirmed the event, or when it arrives.'),
  retentionDays: z
    .number()
    .nullable()
    .describe(
      'For how many days after it was closed a case is kept; null: indefinitely. The same as `cases` in the rules of retention.',
    ),
});
export type CaseRules = z.infer<typeof caseRules>;
export const updateCaseRulesInput = z.object({
  secondPerson: z
    .record(violationTypeName, z.boolean())
    .refine((types) => Object.keys(types).length <= MAX_TYPES, `Name at most ${MAX_TYPES} types`)
    .optional(),
  openFor: z
    .array(violationTypeName)
    .max(MAX_TYPES, `Name at most ${MAX_TYPES} types`)
    .optional()
    .describe('[]: none.'),
  openOn: caseRules.shape.openOn.optional(),
  retentionDays: z
    .int()
    .min(1)
    .max(RETENTION_DAYS_MAX)
    .nullable()
    .optional()
    .describe('For how many days after it was closed a case is kept; null: indefinitely.'),
});
export type UpdateCaseRulesInput = z.infer<typeof updateCaseRulesInput>;

export const caseChange = z.object({
  action: caseAction,
  case: caseSummary,
  by: person.nullable().describe('null: the service, by a rule.'),
  at: z.date(),
});
export type CaseChange = z.infer<typeof caseChange>;
export const followCasesInput = z.object({ id: id.optional(), ...resumable }).prefault({});
export type FollowCasesInput = z.infer<typeof followCasesInput>;
export const caseMessage = messagesOf('change', caseChange);
