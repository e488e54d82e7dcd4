import type { StoredRow } from '../events/event-row.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Hit } from './alerts-store.ts';
import { differencesOf, isReleasedAtOnce, type PlateRead } from './hotlist-rules.ts';
import type { Hotlists } from './hotlists.ts';
import { type Candidate, findCandidates, findWithImage } from './hotlists-store.ts';

type Listed = NonNullable<Hit['listed']>;

/** A read, what of a list it may hit, and in how many characters it differs. */
interface Match {
  readonly row: StoredRow;
  readonly candidate: Candidate;
  readonly differences: number;
}

/**
 * The hits of stored events: one for each entry in force, of one moment, that lists the plate at the time of the event.
 * @param kindOf whether the plate was listed when the event was stored
 */
export async function findHits(
  hotlists: Pick<Hotlists, 'mayList' | 'patternsOf' | 'isNear'>,
  tx: Executor,
  rows: readonly StoredRow[],
  kindOf: (row: StoredRow) => Listed['kind'] = () => 'LIVE',
): Promise<Hit[]> {
  const reads = new Map(rows.flatMap((row) => (hotlists.mayList(row) ? [[row.id, row] as const] : [])));
  const sought = [...reads.values()].map(({ id, plateKey }) => ({
    eventId: id,
    plateKey: plateKey ?? '',
    patterns: hotlists.patternsOf(plateKey ?? ''),
  }));
  const candidates = await findCandidates(tx, sought, hotlists.isNear);
  const matches = candidates.flatMap((candidate): Match[] => {
    const row = reads.get(candidate.eventId);
    const differences = row ? differencesOf(candidate, candidate, readOf(row)) : null;
    return row && differences !== null ? [{ row, candidate, differences }] : [];
  });
  const unsure = matches.filter(({ candidate }) => candidate.verification === 'WHEN_UNSURE');
  const withImage = await findWithImage(tx, [...new Set(unsure.map(({ row }) => row.id))]);
  return matches.map((match) => hitOf(match, kindOf(match.row), withImage.has(match.row.id)));
}

function hitOf({ row, candidate, differences }: Match, kind: Listed['kind'], hasImage: boolean): Hit {
  const { id, plate, reason, priority, hotlistId, covert, repeatMinutes, region, reference, extra, version } =
    candidate;
  const { confidence } = qualityOf(row);
  return {
    entry: { id, pattern: plate, reason, priority, fuzzy: false },
    row,
    listed: {
      hotlistId,
      covert,
      repeatMinutes,
      kind,
      differences,
      confidence,
      plateRegion: readOf(row).region,
      isReleased: isReleasedAtOnce(candidate, { differences, confidence, hasImage }),
      says: {
        region,
        reference,
        extra,
        version,
        validFrom: isoOf(candidate.validFrom),
        validUntil: isoOf(candidate.validUntil),
      },
    },
  };
}

function readOf(row: StoredRow): PlateRead {
  return { plateKey: row.plateKey ?? '', region: qualityOf(row).region, time: row.time };
}

/** What a device said about its read of the plate. */
function qualityOf({ passage }: StoredRow): {
  readonly region: string | null;
  readonly confidence: number | null;
} {
  return { region: passage?.plateRegion ?? null, confidence: passage?.plateConfidence ?? null };
}

function isoOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
