import { z } from 'zod';
import { batchOf, batchResults } from './batch.ts';
import { severity } from './events.ts';
import { hitOutcomes, hitStates, rejectionCodes } from './hit-values.ts';
import { id } from './id.ts';
import { pageTotals, paging, sortOrder } from './page.ts';
import { role } from './permissions.ts';
import { person } from './person.ts';
import { identifiesEvent, showsPlate } from './plate-fields.ts';
import { messagesOf, resumable } from './realtime.ts';
import { optionalText } from './text.ts';
import { timeRange } from './time.ts';

// Hits: reads of plates that are on hotlists, and what people decided about them.

export const hitState = z.enum(hitStates).describe('EXPIRED: nobody decided in time.');
export type HitState = z.infer<typeof hitState>;

export const rejectionCode = z.enum(rejectionCodes);
export type RejectionCode = z.infer<typeof rejectionCode>;

export const hitOutcome = z.enum(hitOutcomes);
export type HitOutcome = z.infer<typeof hitOutcome>;

export const hitKind = z
  .enum(['LIVE', 'LOOK_BACK'])
  .describe(
    'LOOK_BACK: the read was stored before the plate was listed. Such hits are never announced to webhooks.',
  );
export type HitKind = z.infer<typeof hitKind>;

/** A read of a listed plate, with its repetitions. It keeps what the entry said. */
export const hit = z.object({
  id: z.string(),
  hotlist: z
    .object({
      id: z.string(),
      name: z.string(),
      covert: z.boolean(),
      ownerId: z.string(),
      visibleTo: z.array(role),
    })
    .describe('The list, as it is now.'),
  entryId: z.string(),
  kind: hitKind,
  priority: severity,
  reason: z.string(),
  reference: z.string().nullable(),
  listedPlate: showsPlate('plate', z.string()),
  listedRegion: z.string().nullable(),
  licensePlateNumber: showsPlate('plate', z.string().describe('The plate as it was read.')),
  readRegion: z.string().nullable().describe('The region that the device read.'),
  confidence: z.number().nullable().describe('Of the read, in per cent.'),
  differences: z
    .number()
    .describe('The number of characters in which the read differs from the listed plate.'),
  eventId: identifiesEvent(z.string()),
  sensorId: z.string().nullable(),
  sensorName: z.string().nullable(),
  locationName: z.string().nullable(),
  timestamp: z.date().describe('When the plate was read: the time of the event.'),
  createdAt: z.date(),
  backlog: z.boolean().describe('Whether the read was more than 15 minutes old when it arrived.'),
  sightings: z.number().describe('The number of reads of the entry, at any sensor.'),
  lastSeenAt: z.date(),
  state: hitState,
  code: rejectionCode.nullable(),
  note: z.string().nullable(),
  decidedBy: person.nullable(),
  decidedAt: z.date().nullable(),
  releasedAt: z
    .date()
    .nullable()
    .describe(
      'Since when others than verifiers see it. null: it was not confirmed, and the list requires that.',
    ),
  outcome: hitOutcome.nullable(),
  outcomeBy: person.nullable(),
  outcomeAt: z.date().nullable(),
});
export type Hit = z.infer<typeof hit>;

export const hitDetail = hit.extend({
  listed: z.object({
    extra: z.record(z.string(), z.string()).nullable(),
    validFrom: z.date().nullable(),
    validUntil: z.date().nullable(),
    version: z.number().describe('The version of the list at the time of the hit.'),
  }),
  history: z.array(
    z.object({
      at: z.date(),
      by: person.nullable(),
      action: z.enum(['CONFIRM', 'REJECT', 'EXPIRE', 'OUTCOME']),
      code: rejectionCode.nullable(),
      outcome: hitOutcome.nullable(),
      note: z.string().nullable(),
    }),
  ),
  sightingEvents: z
    .array(
      z.object({
        eventId: z.string(),
        timestamp: z.date(),
        sensorId: z.string().nullable(),
        sensorName: z.string().nullable(),
        locationName: z.string().nullable(),
      }),
    )
    .describe('The last 100 further reads that are still stored, newest first.'),
});
export type HitDetail = z.infer<typeof hitDetail>;

export const hitChange = z.object({
  action: z
    .enum(['NEW', 'SEEN', 'CONFIRMED', 'REJECTED', 'EXPIRED', 'OUTCOME'])
    .describe('SEEN: another read of the entry.'),
  hit,
});
export type HitChange = z.infer<typeof hitChange>;

const hitFilter = {
  hotlistId: id.optional(),
  state: hitState.optional(),
  kind: hitKind.optional(),
  priority: severity.optional(),
};

export const listHitsInput = z
  .object({
    ...timeRange,
    ...paging(50),
    ...hitFilter,
    released: z.boolean().optional(),
    sensorId: id.optional(),
    sortBy: z
      .enum(['createdAt', 'priority'])
      .default('createdAt')
      .describe('`priority` descending: the most urgent first, then the oldest; ascending: the reverse.'),
    sortOrder: sortOrder.default('desc'),
  })
  .prefault({});
export type ListHitsInput = z.infer<typeof listHitsInput>;
export const hitsPage = z.object({ hits: z.array(hit), ...pageTotals });

export const followHitsInput = z.object({ ...hitFilter, ...resumable }).prefault({});
export type FollowHitsInput = z.infer<typeof followHitsInput>;
export const hitMessage = messagesOf('change', hitChange);

const note = optionalText(1_000);
const rejection = {
  code: rejectionCode.describe('OTHER requires a note.'),
  note,
};
const NEEDS_NOTE = { error: 'Say in a note why, or choose another code', path: ['note'] };
const saysWhy = ({ code, note: why }: { code: RejectionCode; note: string | null }): boolean =>
  code !== 'OTHER' || why !== null;

export const confirmHitInput = z.object({ id, note });
export type ConfirmHitInput = z.infer<typeof confirmHitInput>;
export const rejectHitInput = z.object({ id, ...rejection }).refine(saysWhy, NEEDS_NOTE);
export type RejectHitInput = z.infer<typeof rejectHitInput>;
const ids = batchOf(id, 'hit').describe('The ids of hits.');
export const confirmHitBatchInput = z.object({ ids, note });
export const rejectHitBatchInput = z.object({ ids, ...rejection }).refine(saysWhy, NEEDS_NOTE);
export const hitBatchOutput = batchResults(z.object({ id: z.string(), hit }));
export const setHitOutcomeInput = z.object({
  id,
  outcome: hitOutcome,
  note,
  correct: z.boolean().default(false).describe('Whether to replace an outcome that was set before.'),
});
export type SetHitOutcomeInput = z.infer<typeof setHitOutcomeInput>;

export const hitStatsInput = z.object({ ...timeRange, by: z.enum(['list', 'sensor', 'code', 'outcome']) });
export type HitStatsInput = z.infer<typeof hitStatsInput>;
export const hitStats = z.object({
  groups: z.array(
    z.object({
      key: z.string().nullable(),
      name: z.string().nullable(),
      hits: z.number().describe('Number of hits.'),
      confirmed: z.number().describe('Number of confirmed ones.'),
      rejected: z.number().describe('Number of rejected ones.'),
      expired: z.number().describe('Number of those about which nobody decided in time.'),
    }),
  ),
});
