import { eventProof, proofInput, sealStatus } from '@gantry/contract/evidence';
import { getSealStatus, proveEvent } from '../evidence/service.ts';
import { allowed, router, signedIn } from './procedures.ts';

export const evidenceRouter = router({
  getStatus: allowed('systemSettings')
    .meta({
      summary: 'Show what is sealed, with which keys, and what the last check of the seals found',
      notes:
        'Every 30 seconds, what was recorded is sealed: the hashes of the records become the leaves of a tree, whose root is signed and names the seal before. `/.well-known/gantry-seal.json` shows the keys and the latest seal to everybody.',
    })
    .output(sealStatus)
    .query(({ ctx }) => getSealStatus(ctx.app)),

  getProof: signedIn
    .meta({
      question: true,
      summary: 'Prove that an event is as it was sealed',
      notes:
        'Whoever keeps the answer can check it without Gantry: the hash of a zero byte and `record` is the `leaf`; with `path`, it leads to the `root` of the seal, whose `text` is signed with the key (Ed25519). Users who may not see plates get neither the record nor the proof, because both would tell the plate.',
    })
    .input(proofInput)
    .output(eventProof)
    .query(({ ctx, input }) => proveEvent(ctx.app, input.eventId)),
});
