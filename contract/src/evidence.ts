import { z } from 'zod';
import { id } from './id.ts';
import { identifiesEvent, showsPlate } from './plate-fields.ts';
import { sealFaults, sealKinds, sealModes } from './values.ts';

// Seals of what was recorded, with which anybody can prove later that it was not changed.

export const sealKind = z
  .enum(sealKinds)
  .describe(
    'What it seals. KEY: the public key of seals. EVENT: events. ACTIVITY: the activity log. LOG: the log of the control room. CASE_LOG: the logs of cases. CERTIFICATE: certificates of sensors.',
  );
export type SealKind = z.infer<typeof sealKind>;
export const sealMode = z
  .enum(sealModes)
  .describe('Which events are sealed (`SEAL`). evidence: violations, events with images, and hits.');
export type SealMode = z.infer<typeof sealMode>;

const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256 in hexadecimal digits');
const base64 = z.string().describe('base64');

export const sealKey = z.object({
  id: z.string().describe('The first 16 bytes of the SHA-256 of the public key (DER), in hexadecimal digits'),
  algorithm: z.literal('Ed25519'),
  publicKey: z.string().describe('PEM (SubjectPublicKeyInfo)'),
  createdAt: z.date(),
  replaces: z.string().nullable().describe('The key before it; null for the first one.'),
});
export type SealKey = z.infer<typeof sealKey>;

export const seal = z.object({
  seq: z.int().positive().describe('Its number; none is left out.'),
  kind: sealKind,
  madeAt: z.date(),
  count: z.int().positive().describe('Number of records'),
  root: sha256.describe('The root of the tree of the hashes of its records (RFC 6962, section 2.1)'),
  previous: sha256.describe('The hash of the seal before; 64 zeros for the first one.'),
  hash: sha256.describe('The SHA-256 of `text`'),
  keyId: z.string().describe('The key with which it is signed'),
  text: z.string().describe('What is signed: the fields above but for `hash`, as canonical JSON (RFC 8785)'),
  signature: base64.describe('The signature of `text` (Ed25519), in base64'),
});
export type Seal = z.infer<typeof seal>;

export const proofInput = z.object({ eventId: id });

export const proofState = z
  .enum(['PROVEN', 'CHANGED', 'ERASED', 'WAITING', 'UNSEALED'])
  .describe(
    'PROVEN: the event is as it was sealed. CHANGED: it is not. ERASED: it is not, because what it said about a person was erased. WAITING: it will be sealed within a minute. UNSEALED: it is not, because `SEAL` leaves it out or it is older than the first seal.',
  );

export const eventProof = z.object({
  eventId: identifiesEvent(id.clone()),
  state: proofState,
  record: showsPlate('empty', z.string().nullable()).describe(
    'The fields of the event that are sealed, as canonical JSON (RFC 8785), as they are now',
  ),
  // A guessed plate could be tried against the hash.
  proof: showsPlate(
    'empty',
    z
      .object({
        leaf: sha256.describe('The hash in the seal: SHA-256 of a zero byte and the record at that time'),
        index: z.int().min(0).describe('Its place among the records of the seal, from 0'),
        path: z
          .array(sha256)
          .describe('The hashes that lead from the leaf to the root, the nearest to the leaf first'),
        seal,
        key: sealKey,
      })
      .nullable(),
  ).describe('null if the event is not sealed.'),
});
export type EventProof = z.infer<typeof eventProof>;

export const sealFault = z.object({
  fault: z
    .enum(sealFaults)
    .describe(
      'GAP: a seal is missing. CHAIN: it does not name the one before. TEXT, ROOT: its fields do not have its hash or root. KEY, SIGNATURE: it is signed with an unknown key, or not by that key. CHANGED, MISSING: a record differs, or was removed by nobody who may. CHECKPOINT: it differs from a checkpoint in the data folder.',
    ),
  seq: z.int().min(0).describe('The seal'),
  kind: sealKind.nullable(),
  recordId: z.string().nullable().describe('The record, if it is one that differs.'),
});
export type SealFault = z.infer<typeof sealFault>;

export const sealStatus = z.object({
  mode: sealMode,
  latest: seal.nullable(),
  keys: z.array(sealKey),
  check: z
    .object({
      startedAt: z.date(),
      checked: z.int().min(0).describe('Number of seals that it checked'),
      faults: z.array(sealFault).describe('At most 100'),
    })
    .nullable()
    .describe('The last check, of every night or by `gantry evidence check`; null before the first one.'),
});
export type SealStatus = z.infer<typeof sealStatus>;
