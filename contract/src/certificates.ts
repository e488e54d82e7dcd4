import { z } from 'zod';
import { id, storedId } from './id.ts';
import { pageTotals, paging } from './page.ts';
import { person } from './person.ts';
import { optionalText, trimmedText } from './text.ts';
import { timeInput } from './time.ts';
import { certificateKinds, certificateStates, EXPIRING_DAYS } from './values.ts';

// Certificates of sensors: what they attest, and for which time. A case needs those that cover its time.

/** Maximum size of the file of a certificate, in bytes. */
export const MAX_CERTIFICATE_BYTES = 5_000_000;
const MAX_CERTIFICATE_LENGTH = Math.ceil(MAX_CERTIFICATE_BYTES / 3) * 4 + 100;
/** Maximum number of certificates of one sensor. */
export const MAX_CERTIFICATES = 1_000;
/** Maximum time for which a certificate is valid, in years. */
export const MAX_CERTIFICATE_YEARS = 50;

export const certificateKind = z
  .enum(certificateKinds)
  .describe(
    'TYPE_APPROVAL: that of the type of device. CALIBRATION: that of this device, with its tolerance. DISTANCE: a marked or measured distance. CLOCK: the source of its time.',
  );
export type CertificateKind = z.infer<typeof certificateKind>;

export const certificateState = z
  .enum(certificateStates)
  .describe(`As of now. EXPIRING: it is valid, and ends within ${EXPIRING_DAYS} days.`);
export type CertificateState = z.infer<typeof certificateState>;

/**
 * What is taken off a measured speed, in favour of the driver: `fixedKmh`, or `percent` of the speed where that is more.
 * With 3 and 3, it is 3 km/h up to 100 km/h and 3 % above, the limits of error in use of PTB-A 12.01.
 */
export const tolerance = z.object({
  fixedKmh: z.number().describe('km/h.'),
  percent: z.number().describe('Per cent of the measured speed; it counts where it is more than `fixedKmh`.'),
  roundDown: z.boolean().describe('Whether what is left of the speed is rounded down to whole km/h.'),
});
export type Tolerance = z.infer<typeof tolerance>;

const KMH = 'Use a number of km/h from 0 to 50';
const PERCENT = 'Use a percentage of the speed from 0 to 25';
const toleranceInput = z.object({
  fixedKmh: z.number(KMH).min(0, KMH).max(50, KMH).default(0).describe('km/h.'),
  percent: z
    .number(PERCENT)
    .min(0, PERCENT)
    .max(25, PERCENT)
    .default(0)
    .describe('Per cent of the measured speed; it counts where it is more than `fixedKmh`.'),
  roundDown: z
    .boolean()
    .default(false)
    .describe('Whether what is left of the speed is rounded down to whole km/h.'),
});

export const certificate = z.object({
  id: z.string(),
  sensorId: z.string(),
  sensorName: z.string().describe('As it is now, or was last.'),
  kind: certificateKind,
  number: z.string(),
  issuer: z.string().nullable(),
  validFrom: z.date().describe('Start of validity, inclusive.'),
  validUntil: z.date().describe('End of validity, exclusive.'),
  tolerance: tolerance.nullable(),
  file: z
    .object({
      sha256: z.string(),
      bytes: z.number().describe('Bytes.'),
      contentType: z.string(),
      name: z.string(),
      url: z.string(),
    })
    .nullable()
    .describe('A PDF or image. Get it from `url` with the token.'),
  note: z.string().nullable(),
  state: certificateState,
  withdrawnAt: z.date().nullable(),
  withdrawnBy: person.nullable(),
  withdrawReason: z.string().nullable(),
  createdBy: person.nullable(),
  createdAt: z.date(),
});
export type Certificate = z.infer<typeof certificate>;

export const addCertificateInput = z
  .object({
    sensorId: storedId,
    kind: certificateKind,
    number: trimmedText(100, 1),
    issuer: optionalText(200),
    validFrom: timeInput.describe(
      "Start of validity, inclusive. A plain date is the start of that day in the service's time zone.",
    ),
    validUntil: timeInput.describe(
      "End of validity, exclusive. A plain date is the start of that day in the service's time zone.",
    ),
    tolerance: toleranceInput
      .nullish()
      .transform((value) => value ?? null)
      .describe('Only of a CALIBRATION.'),
    file: z
      .string()
      .max(
        MAX_CERTIFICATE_LENGTH,
        `The file has more than ${MAX_CERTIFICATE_BYTES / 1e6} MB: send a smaller one`,
      )
      .optional()
      .describe(
        `A PDF, JPEG, PNG or WebP file of at most ${MAX_CERTIFICATE_BYTES / 1e6} MB in base64, alone or as a \`data:\` URL.`,
      ),
    fileName: optionalText(200).describe('By default the number.'),
    note: optionalText(1_000),
  })
  .refine(({ kind, tolerance: given }) => given === null || kind === 'CALIBRATION', {
    path: ['tolerance'],
    message: 'Only a CALIBRATION has a tolerance',
  });
export type AddCertificateInput = z.infer<typeof addCertificateInput>;

export const withdrawCertificateInput = z.object({ id, reason: trimmedText(500, 1) });
export type WithdrawCertificateInput = z.infer<typeof withdrawCertificateInput>;

export const listCertificatesInput = z
  .object({
    ...paging(50),
    sensorId: id.optional(),
    kind: certificateKind.optional(),
    state: certificateState.optional(),
    expiringDays: z
      .int()
      .min(1)
      .max(365)
      .optional()
      .describe(
        'Only those that are valid now, end within so many days, and are not followed by another one of the same kind.',
      ),
  })
  .prefault({});
export type ListCertificatesInput = z.infer<typeof listCertificatesInput>;
export const certificatesPage = z.object({
  certificates: z.array(certificate).describe('By sensor, kind and start, the latest start first.'),
  ...pageTotals,
});
