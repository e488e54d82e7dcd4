import type { Images } from '../images/images.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { certificatesOf } from './certificates-store.ts';
import { type CaseFacts, type ImageFact, type Judgement, judge } from './checks.ts';
import {
  findDamaged,
  findEventFacts,
  hadUnusableTime,
  limitAt,
  readLags,
  rejectionAt,
  statusAt,
} from './facts-store.ts';
import { type ImageRow, type ItemRow, isImage, listItems } from './items-store.ts';
import type { CaseRow } from './store.ts';

/** Reads all images of a case. @returns the hashes of those that are missing or damaged @throws AppError `unavailable` */
export async function readImages(
  images: Images,
  db: Executor,
  { id }: Pick<CaseRow, 'id'>,
): Promise<ReadonlySet<string>> {
  const damaged = new Set<string>();
  for (const sha256 of new Set((await listItems(db, id)).filter(isImage).map((item) => item.sha256)))
    if ((await images.readIfWhole(sha256)) === null) damaged.add(sha256);
  return damaged;
}

/** What is judged besides the case and its items. */
interface Judged {
  /** The service's time zone (IANA). */
  readonly zone: string;
  /** Images that cannot be used; by default those that are known. */
  readonly damaged?: ReadonlySet<string>;
}

/**
 * What speaks for and against a case now.
 * @param all its items
 */
export async function judgeCase(
  db: Executor,
  row: CaseRow,
  all: readonly ItemRow[],
  { zone, damaged }: Judged,
): Promise<Judgement> {
  return judge({ ...(await gatherFacts(db, row, all.filter(isImage), damaged)), zone });
}

async function gatherFacts(
  db: Executor,
  row: CaseRow,
  items: readonly ImageRow[],
  damaged: ReadonlySet<string> | undefined,
): Promise<Omit<CaseFacts, 'zone'>> {
  const bad = damaged ?? (await findDamaged(db, [...new Set(items.map(({ sha256 }) => sha256))]));
  const images = items.map(
    ({ sha256, capturedAt }): ImageFact => ({
      sha256,
      isWhole: !bad.has(sha256),
      capturedAt: capturedAt?.getTime() ?? null,
    }),
  );
  const { sensorId, kind, eventType, violationType, plate, plateConfidence } = row;
  const happenedAt = row.happenedAt.getTime();
  const [event] = row.eventId === null ? [] : await findEventFacts(db, [row.eventId]);
  return {
    ...{ kind, eventType, violationType, happenedAt, plate, plateConfidence, images },
    ...(await aboutSensor(db, sensorId, happenedAt)),
    measuredKmh: event?.vehicleSpeed ?? row.measuredKmh,
    limitKmh: await limitAt(db, row, happenedAt),
    secondaryKmh: row.lines?.kmh ?? null,
  };
}

async function aboutSensor(db: Executor, sensorId: string | null, at: number) {
  if (sensorId === null)
    return {
      ...{ hasSensor: false, certificates: [], status: null, rejected: null },
      ...{ lags: [], hadUnusableTime: false },
    };
  return {
    hasSensor: true,
    certificates: await certificatesOf(db, sensorId),
    status: await statusAt(db, sensorId, at),
    rejected: await rejectionAt(db, sensorId, at),
    lags: await readLags(db, sensorId, at),
    hadUnusableTime: await hadUnusableTime(db, sensorId, at),
  };
}
