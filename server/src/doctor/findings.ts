import type { DoctorReport, Finding } from '@gantry/contract/doctor';

type About = Finding['about'];

/** Something that must be mended. */
export function problem(about: About, finding: string, remedy: string): Finding {
  return { about, level: 'PROBLEM', finding, remedy };
}

/** Something that should be considered. */
export function advice(about: About, finding: string, remedy: string): Finding {
  return { about, level: 'ADVICE', finding, remedy };
}

/** Something that was examined, and nothing is wrong. */
export function fine(about: About, finding: string): Finding {
  return { about, level: 'OK', finding, remedy: null };
}

const ORDER = ['PROBLEM', 'ADVICE', 'OK'];

/** The findings in the order of their urgency. */
export function reportOf(findings: readonly Finding[]): DoctorReport {
  return {
    isHealthy: findings.every(({ level }) => level !== 'PROBLEM'),
    findings: [...findings].sort((a, b) => ORDER.indexOf(a.level) - ORDER.indexOf(b.level)),
  };
}
