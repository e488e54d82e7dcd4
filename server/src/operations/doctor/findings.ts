import type { DoctorReport, Finding } from '@gantry/contract/doctor';
import { doctorSentences, type FindingCode, type FindingValues } from '@gantry/contract/doctor-sentences';
import { filled, type SentenceValue } from '@gantry/contract/sentences';

/** The values of a finding, which may be left out if its sentences have none. */
type Values<Code extends FindingCode> = [keyof FindingValues<Code>] extends [never]
  ? []
  : [values: FindingValues<Code>];

/** Something that must be corrected. */
export function problem<Code extends FindingCode>(code: Code, ...[values]: Values<Code>): Finding {
  return found('PROBLEM', code, values);
}

/** Something that should be considered. */
export function advice<Code extends FindingCode>(code: Code, ...[values]: Values<Code>): Finding {
  return found('ADVICE', code, values);
}

/** Something that was checked, and nothing is wrong. */
export function fine<Code extends FindingCode>(code: Code, ...[values]: Values<Code>): Finding {
  return found('OK', code, values);
}

type Named = Readonly<Record<string, SentenceValue>>;

function found(level: Finding['level'], code: FindingCode, values: Named = {}): Finding {
  const sentence: { about: Finding['about']; finding: string; remedy?: string } = doctorSentences[code];
  const needsNothing = level === 'OK' || sentence.remedy === undefined;
  return {
    code,
    about: sentence.about,
    level,
    finding: filled(sentence.finding, values),
    remedy: needsNothing ? null : filled(sentence.remedy ?? '', values),
    values: Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, typeof value === 'object' ? [...value] : value]),
    ),
  };
}

const ORDER = ['PROBLEM', 'ADVICE', 'OK'];

/** The findings in the order of their urgency. */
export function reportOf(findings: readonly Finding[]): DoctorReport {
  return {
    isHealthy: findings.every(({ level }) => level !== 'PROBLEM'),
    findings: [...findings].sort((a, b) => ORDER.indexOf(a.level) - ORDER.indexOf(b.level)),
  };
}
