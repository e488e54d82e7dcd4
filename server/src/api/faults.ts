import {
  faultDetail,
  faultMessage,
  faultsPage,
  followFaultsInput,
  listFaultsInput,
  reportFaultInput,
  updateFaultInput,
} from '@gantry/contract/faults';
import { byId } from '@gantry/contract/id';
import { type Images, keepNoteImages } from '../images/images.ts';
import { messagesOf } from '../rpc/messages.ts';
import { findFormerReport, followFaults, reportFault, updateFault } from '../sensors/faults.ts';
import { getFault, listFaults } from '../sensors/faults-store.ts';
import { allowed, pageOf, router, signedIn } from './procedures.ts';

/** Stores images. @returns their SHA-256 @throws AppError as `keepNoteImages` */
async function storedImages(images: Images, values: readonly string[]): Promise<string[]> {
  return (await keepNoteImages(images, values)).map(({ sha256 }) => sha256);
}

export const faultsRouter = router({
  getAll: signedIn
    .meta({ question: true, summary: 'List the faults of sensors' })
    .input(listFaultsInput)
    .output(faultsPage)
    .query(async ({ ctx: { app }, input }) => pageOf('faults', await listFaults(app.db, input), input.take)),

  getById: signedIn
    .meta({ summary: 'Get one fault, with its images and the states that it went through' })
    .input(byId)
    .output(faultDetail)
    .query(({ ctx: { app }, input }) => getFault(app.db, input.id)),

  report: allowed('manageIncidents')
    .meta({
      summary: 'Report a fault of a sensor',
      notes:
        'Images are stored before the answer, and kept as long as the fault. On SERVICE_UNAVAILABLE (503), wait for `Retry-After` and send it again. A sensor may have several faults at once, with a ticket each, but only one with the same code that is not repaired: of two people who report it, one succeeds and the other receives CONFLICT with the name of the first. The status of the sensor does not change.',
    })
    .input(reportFaultInput)
    .output(faultDetail)
    .mutation(async ({ ctx, input }) => {
      const former = input.images.length > 0 ? await findFormerReport(ctx, input) : null;
      return (
        former ?? reportFault(ctx, { ...input, images: await storedImages(ctx.app.images, input.images) })
      );
    }),

  update: allowed('manageIncidents')
    .meta({
      summary: 'Change a fault, or its state',
      notes:
        'FOUND and IN_REPAIR can become WAITING, which needs a reason; FOUND and WAITING can become IN_REPAIR; all can become REPAIRED. A repaired fault that is there again becomes FOUND, with a reason. Other changes of the state are CONFLICT, with who set the present one. Only the given fields change; `null` clears a field.',
    })
    .input(updateFaultInput)
    .output(faultDetail)
    .mutation(async ({ ctx, input }) =>
      updateFault(ctx, { ...input, images: await storedImages(ctx.app.images, input.images) }),
    ),

  onChanged: signedIn
    .meta({ summary: 'Stream faults as they are reported and change', message: faultMessage })
    .input(followFaultsInput)
    .subscription(({ ctx, input, signal }) => messagesOf('fault', followFaults(ctx, input, signal))),
});
