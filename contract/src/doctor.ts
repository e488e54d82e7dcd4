import { z } from 'zod';

/** The values in a sentence, by name. */
export const sentenceValues = z.record(z.string(), z.union([z.string(), z.number(), z.array(z.string())]));

/** A statement about the installation. */
export const finding = z.object({
  code: z
    .string()
    .describe('Names what was found; the same in every version. doctor-sentences of the contract lists all.'),
  about: z
    .enum([
      'node',
      'settings',
      'secrets',
      'folder',
      'database',
      'schema',
      'work',
      'backups',
      'gateways',
      'sensors',
      'accounts',
    ])
    .describe('What it is about.'),
  level: z
    .enum(['PROBLEM', 'ADVICE', 'OK'])
    .describe(
      'PROBLEM: must be corrected. ADVICE: should be considered. OK: was checked, and nothing is wrong.',
    ),
  finding: z.string().describe('What was found, as a sentence.'),
  remedy: z.string().nullable().describe('What to do about it, as a sentence; null if it is OK.'),
  values: sentenceValues.describe('What differs in the sentences of this code, by name, for translations.'),
});
export type Finding = z.infer<typeof finding>;

export const doctorReport = z.object({
  isHealthy: z.boolean().describe('Whether there is no PROBLEM.'),
  findings: z.array(finding).describe('Problems first, then advice.'),
});
export type DoctorReport = z.infer<typeof doctorReport>;
