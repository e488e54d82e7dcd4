import { z } from 'zod';

/** A statement about the installation. */
export const finding = z.object({
  about: z
    .enum(['node', 'settings', 'secrets', 'folder', 'database', 'schema', 'work', 'sensors', 'accounts'])
    .describe('What it is about.'),
  level: z
    .enum(['PROBLEM', 'ADVICE', 'OK'])
    .describe(
      'PROBLEM: must be mended. ADVICE: should be considered. OK: was examined, and nothing is wrong.',
    ),
  finding: z.string().describe('What was found, as a sentence.'),
  remedy: z.string().nullable().describe('What to do about it, as a sentence; null if it is OK.'),
});
export type Finding = z.infer<typeof finding>;

export const doctorReport = z.object({
  isHealthy: z.boolean().describe('Whether there is no PROBLEM.'),
  findings: z.array(finding).describe('Problems first, then advice.'),
});
export type DoctorReport = z.infer<typeof doctorReport>;
