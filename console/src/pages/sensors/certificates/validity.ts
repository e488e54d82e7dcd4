import type { Certificate, CertificateKind } from '@gantry/contract/certificates';
import { certificateKinds } from '@gantry/contract/values';

// For which times the certificates of a sensor are valid, and for which there is none.

/** A time in milliseconds since 1970, from (inclusive) until (exclusive). */
export interface Span {
  readonly from: number;
  readonly until: number;
}

type Valid = Pick<Certificate, 'kind' | 'validFrom' | 'validUntil' | 'withdrawnAt'>;

/** The times for which a kind of certificates is valid, in order; those that touch or overlap are one. */
export function validSpans(certificates: readonly Valid[], kind: CertificateKind): readonly Span[] {
  const spans: Span[] = [];
  const sorted = certificates
    .filter((each) => each.kind === kind && each.withdrawnAt === null)
    .map(({ validFrom, validUntil }) => ({ from: validFrom.getTime(), until: validUntil.getTime() }))
    .sort((one, other) => one.from - other.from);
  for (const span of sorted) {
    const last = spans.at(-1);
    if (last && span.from <= last.until)
      spans[spans.length - 1] = { from: last.from, until: Math.max(last.until, span.until) };
    else spans.push(span);
  }
  return spans;
}

/** The times between spans, for which nothing is valid. */
export function gapsBetween(spans: readonly Span[]): readonly Span[] {
  return spans.slice(1).map(({ from }, at) => ({ from: spans[at]?.until ?? from, until: from }));
}

/** The kinds of which a sensor has certificates that were not withdrawn. */
export function kindsOf(certificates: readonly Valid[]): readonly CertificateKind[] {
  return certificateKinds.filter((kind) => validSpans(certificates, kind).length > 0);
}

/** The range of a time line: everything that is valid, and today, with a margin at both ends. */
export function rangeOf(spans: readonly Span[], now: number): Span {
  const from = Math.min(now, ...spans.map((span) => span.from));
  const until = Math.max(now, ...spans.map((span) => span.until));
  const margin = Math.max(1, (until - from) * 0.03);
  return { from: from - margin, until: until + margin };
}
