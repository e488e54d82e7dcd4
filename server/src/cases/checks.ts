import {
  type CaseCheckCode,
  type CaseCheckValues,
  caseCheckSentences,
} from '@gantry/contract/case-check-sentences';
import type { CaseCheck, CaseKind } from '@gantry/contract/cases';
import type { CertificateKind, Tolerance } from '@gantry/contract/certificates';
import type { SensorStatus } from '@gantry/contract/sensors';
import { filled } from '@gantry/contract/sentences';
import { dayOf } from '../platform/time.ts';
import type { CertificateRow } from './certificates-store.ts';

// What speaks for and against a case, as pure functions of what is known.

/** What is known of an image of a case. */
export interface ImageFact {
  readonly sha256: string;
  readonly isWhole: boolean;
  /** Unix milliseconds; null if not known. */
  readonly capturedAt: number | null;
}

/** What is known of a case. Times are Unix milliseconds, speeds km/h. */
export interface CaseFacts {
  readonly kind: CaseKind;
  readonly eventType: string | null;
  readonly violationType: string | null;
  readonly happenedAt: number;
  /** The service's time zone (IANA), in which days are named. */
  readonly zone: string;
  readonly hasSensor: boolean;
  /** All of its sensor, the first one to begin first. */
  readonly certificates: readonly CertificateRow[];
  /** The status of the sensor at that time; null if not known. */
  readonly status: SensorStatus | null;
  /** Why somebody rejected the data of the sensor of that time; null if nobody did. */
  readonly rejected: string | null;
  /** How much later than their times the events of the sensor around that time arrived, in milliseconds. */
  readonly lags: readonly number[];
  /** Whether the sensor sent a time in that hour that could not be used. */
  readonly hadUnusableTime: boolean;
  readonly measuredKmh: number | null;
  readonly limitKmh: number | null;
  readonly plate: string | null;
  /** Per cent. */
  readonly plateConfidence: number | null;
  readonly images: readonly ImageFact[];
  readonly secondaryKmh: number | null;
}

/** What follows from it. */
export interface Judgement {
  readonly checks: readonly CaseCheck[];
  readonly measuredKmh: number | null;
  readonly limitKmh: number | null;
  readonly toleranceKmh: number | null;
  readonly speedSentence: string | null;
  /** The certificates that cover the time, of each kind the one that began last. */
  readonly covering: readonly CertificateRow[];
}

type Sentence = CaseCheck['sentences'][number];
interface Found {
  readonly result: CaseCheck['result'];
  readonly sentences: readonly Sentence[];
  readonly blocks?: boolean;
}
const found =
  (result: CaseCheck['result']) =>
  (...sentences: Sentence[]): Found => ({ result, sentences });
const [pass, fail, unknown] = [found('PASS'), found('FAIL'), found('UNKNOWN')];
const blocked = (...sentences: Sentence[]): Found => ({ ...fail(...sentences), blocks: true });

/** The values of a sentence, which may be left out if it has none. */
type Values<Code extends CaseCheckCode> = [keyof CaseCheckValues<Code>] extends [never]
  ? []
  : [values: CaseCheckValues<Code>];

function say<Code extends CaseCheckCode>(code: Code, ...[values]: Values<Code>): Sentence {
  return { code, values: { ...values } as Sentence['values'] };
}

/** The sentences of a check in English. */
function inEnglish(sentences: readonly Sentence[]): string {
  return sentences
    .map(({ code, values }) => filled(caseCheckSentences[code as CaseCheckCode], values))
    .join('; ');
}

/** Whether a case is about speed, so that the measurement is what is to be proven. */
export function isAboutSpeed({
  kind,
  eventType,
  violationType,
}: Pick<CaseFacts, 'kind' | 'eventType' | 'violationType'>): boolean {
  if (kind !== 'VIOLATION') return false;
  return violationType ? /speed/i.test(violationType) : eventType === 'SPEED_DETECTION';
}

/** Judges what is known of a case. */
export function judge(facts: CaseFacts): Judgement {
  const isSpeed = isAboutSpeed(facts);
  const covering = coveringAt(facts.certificates, facts.happenedAt);
  const tolerance = covering.find(({ kind }) => kind === 'CALIBRATION')?.tolerance ?? null;
  const speed = isSpeed ? speedOf(facts, tolerance) : null;
  const all = new Map<CaseCheck['name'], Found>();
  if (facts.kind === 'VIOLATION') all.set('CERTIFICATES', certificates(facts, isSpeed));
  if (facts.hasSensor) all.set('SENSOR', sensor(facts)).set('CLOCK', clock(facts));
  if (speed !== null) all.set('LIMIT', limit(facts)).set('SPEED', speed.found);
  if (facts.kind !== 'INCIDENT') all.set('PLATE', plate(facts));
  all.set('IMAGES', images(facts));
  if (isSpeed) all.set('SECONDARY', secondary(facts));
  return {
    checks: [...all].map(([name, { result, sentences, blocks = false }]) => ({
      name,
      result,
      message: inEnglish(sentences),
      sentences: [...sentences],
      blocks,
    })),
    measuredKmh: isSpeed ? facts.measuredKmh : null,
    limitKmh: isSpeed ? facts.limitKmh : null,
    toleranceKmh: speed?.toleranceKmh ?? null,
    speedSentence: speed?.sentence ?? null,
    covering,
  };
}

/** The certificates that cover a time, of each kind the one that began last. */
function coveringAt(all: readonly CertificateRow[], at: number): CertificateRow[] {
  const byKind = new Map<CertificateKind, CertificateRow>();
  for (const each of all) if (covers(each, at)) byKind.set(each.kind, each);
  return [...byKind.values()];
}

function covers({ withdrawnAt, validFrom, validUntil }: CertificateRow, at: number): boolean {
  return withdrawnAt === null && validFrom.getTime() <= at && validUntil.getTime() > at;
}

/** The kinds without which a measured speed proves nothing. */
const NEEDED: readonly CertificateKind[] = ['TYPE_APPROVAL', 'CALIBRATION'];

function certificates(
  { certificates: all, happenedAt, zone, violationType }: CaseFacts,
  isSpeed: boolean,
): Found {
  const kinds = isSpeed ? NEEDED : NEEDED.filter((kind) => all.some((each) => each.kind === kind));
  if (kinds.length === 0)
    return unknown(
      violationType === null
        ? say('certificateNotNeededSo')
        : say('certificateNotNeeded', { violation: violationType }),
    );
  const missing = kinds.flatMap((kind) => whyNotCovered(all, kind, happenedAt, zone) ?? []);
  if (missing.length > 0) return blocked(...missing);
  const named = coveringAt(all, happenedAt).filter(({ kind }) => kinds.includes(kind));
  return pass(
    ...named.map((each) =>
      say('certificateCovers', { kind: each.kind, number: each.number, until: lastDayOf(each, zone) }),
    ),
  );
}

/** Why no certificate of a kind covers a time; null if one does. */
function whyNotCovered(
  all: readonly CertificateRow[],
  kind: CertificateKind,
  at: number,
  zone: string,
): Sentence | null {
  const own = all.filter((each) => each.kind === kind);
  if (own.some((each) => covers(each, at))) return null;
  if (own.length === 0) return say('certificateMissing', { kind });
  const withdrawn = own.filter(
    ({ validFrom, validUntil }) => validFrom.getTime() <= at && validUntil.getTime() > at,
  );
  const [first] = withdrawn;
  if (first)
    return say('certificateWithdrawn', { kind, number: first.number, reason: first.withdrawReason ?? '' });
  const valid = own.filter(({ withdrawnAt }) => withdrawnAt === null);
  const before = valid.filter(({ validUntil }) => validUntil.getTime() <= at);
  const last = before.sort((a, b) => b.validUntil.getTime() - a.validUntil.getTime())[0];
  const next = valid.find(({ validFrom }) => validFrom.getTime() > at);
  const ended = last && { kind, number: last.number, until: lastDayOf(last, zone) };
  const begins = next && { kind, later: next.number, from: dayOf(next.validFrom.getTime(), zone) };
  if (ended && begins) return say('certificateGap', { ...ended, ...begins });
  if (ended) return say('certificateEnded', ended);
  return begins ? say('certificateLater', begins) : say('certificateMissingThen', { kind });
}

/** The last day of a certificate, of which the end is excluded. */
function lastDayOf({ validUntil }: CertificateRow, zone: string): string {
  return dayOf(validUntil.getTime() - 1, zone);
}

function sensor({ status, rejected }: CaseFacts): Found {
  if (rejected !== null) return fail(say('sensorRejected', { reason: rejected }));
  if (status === null) return unknown(say('sensorUnknown'));
  return status === 'ONLINE' ? pass(say('sensorOnline')) : fail(say('sensorNotOnline', { status }));
}

/** How far a clock may be off, in milliseconds. */
const MAX_OFFSET_MS = 1_000;
const MIN_LAGS = 5;
/** How far the delays of events may differ, in milliseconds: those from a buffer say nothing about the clock. */
const MAX_SPREAD_MS = 5_000;

/** The offset of a clock is the median of the delays of events, as in `sensors.getClock`. */
function clock({ lags, hadUnusableTime }: CaseFacts): Found {
  if (hadUnusableTime) return unknown(say('clockUnusable'));
  if (lags.length < MIN_LAGS) return unknown(say('clockFewEvents', { events: lags.length }));
  const sorted = [...lags].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  if (at(0.75) - at(0.25) > MAX_SPREAD_MS) return unknown(say('clockLateEvents'));
  const offset = at(0.5);
  const seconds = rounded(Math.abs(offset) / 1_000);
  const isAhead = offset < 0;
  if (Math.abs(offset) <= MAX_OFFSET_MS)
    return pass(say(isAhead ? 'clockAhead' : 'clockBehind', { seconds }));
  const most = MAX_OFFSET_MS / 1_000;
  return fail(say(isAhead ? 'clockTooFarAhead' : 'clockTooFarBehind', { seconds, most }));
}

function limit({ limitKmh }: CaseFacts): Found {
  return limitKmh === null
    ? unknown(say('limitUnknown'))
    : pass(say('limitKnown', { limit: rounded(limitKmh) }));
}

/**
 * What is taken off a measured speed (km/h): the fixed part, or the percentage where that is more. With 3 km/h and 3 %, these
 * are the limits of error in use of speed meters in road traffic of PTB-A 12.01: 3 km/h up to 100 km/h, 3 % above.
 */
export function toleranceAt(kmh: number, { fixedKmh, percent }: Tolerance): number {
  return Math.max(fixedKmh, (kmh * percent) / 100);
}

/** The speed (km/h) that is left after the tolerance. */
export function speedAfter(kmh: number, tolerance: Tolerance): number {
  // Sums of binary fractions may be a hair below a whole number.
  const left = Math.round((kmh - toleranceAt(kmh, tolerance)) * 1e6) / 1e6;
  return Math.max(0, tolerance.roundDown ? Math.floor(left) : left);
}

function speedOf({ measuredKmh, limitKmh }: CaseFacts, tolerance: Tolerance | null) {
  const nothing = { toleranceKmh: null, sentence: null };
  if (measuredKmh === null) return { ...nothing, found: fail(say('speedMissing')) };
  if (tolerance === null) return { ...nothing, found: unknown(say('speedWithoutTolerance')) };
  const left = speedAfter(measuredKmh, tolerance);
  const off = toleranceAt(measuredKmh, tolerance);
  const start = say(tolerance.roundDown ? 'speedLeftRounded' : 'speedLeft', {
    measured: rounded(measuredKmh),
    tolerance: rounded(off),
    left: rounded(left),
  });
  const compared = speedFound(left, limitKmh, start);
  return { toleranceKmh: off, sentence: inEnglish(compared.sentences), found: compared };
}

/** @param start what is left of the measured speed, as a sentence */
function speedFound(left: number, limitKmh: number | null, start: Sentence): Found {
  if (limitKmh === null) return unknown(start, say('speedWithoutLimit'));
  const [limitOf, over] = [rounded(limitKmh), rounded(left - limitKmh)];
  return left > limitKmh
    ? pass(start, say('speedOver', { limit: limitOf, over }))
    : fail(start, say('speedNotOver', { limit: limitOf }));
}

/** From this confidence on (per cent), a plate counts as read. */
const SURE = 90;

function plate({ plate: read, plateConfidence: percent }: CaseFacts): Found {
  if (read === null) return fail(say('plateMissing'));
  if (percent === null) return unknown(say('plateUnsaid'));
  return percent >= SURE
    ? pass(say('plateSure', { percent }))
    : fail(say('plateUnsure', { percent, least: SURE }));
}

function images({ images: all }: CaseFacts): Found {
  const damaged = all.filter(({ isWhole }) => !isWhole);
  if (damaged.length > 0)
    return blocked(say('imagesDamaged', { hashes: damaged.map(({ sha256 }) => sha256) }));
  if (all.length === 0) return fail(say('imagesMissing'));
  if (all.length === 1) return pass(say('imageWhole'));
  const times = all.flatMap(({ capturedAt }) => capturedAt ?? []).sort((a, b) => a - b);
  const interval = (times.at(-1) ?? 0) - (times[0] ?? 0);
  return pass(
    times.length > 1 && interval > 0
      ? say('imagesWholeApart', { images: all.length, seconds: rounded(interval / 1_000) })
      : say('imagesWhole', { images: all.length }),
  );
}

/** How far the speed by line crossings may differ from the measured one. */
const SECONDARY_SHARE = 0.1;

function secondary({ secondaryKmh, measuredKmh }: CaseFacts): Found {
  if (secondaryKmh === null) return unknown(say('linesMissing'));
  const speed = rounded(secondaryKmh);
  if (measuredKmh === null) return unknown(say('linesAlone', { speed }));
  const measured = rounded(measuredKmh);
  return Math.abs(secondaryKmh - measuredKmh) <= measuredKmh * SECONDARY_SHARE
    ? pass(say('linesNear', { speed, measured }))
    : fail(say('linesFar', { speed, measured, percent: SECONDARY_SHARE * 100 }));
}

/** The speed in km/h of a vehicle that takes some milliseconds for some metres: metres / seconds × 3.6. */
export function speedBetween(metres: number, intervalMs: number): number {
  return Math.round((metres / (intervalMs / 1_000)) * 3.6 * 100) / 100;
}

/** At most three decimals. */
function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
