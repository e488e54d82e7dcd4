import {
  addCertificateInput,
  certificate,
  certificatesPage,
  listCertificatesInput,
  withdrawCertificateInput,
} from '@gantry/contract/certificates';
import { byId } from '@gantry/contract/id';
import {
  addCertificate,
  viewCertificate,
  viewCertificates,
  withdrawCertificate,
} from '../cases/certificates.ts';
import { allowed, pageOf, router } from './procedures.ts';

const readable = allowed('viewDashboard');
const changeable = allowed('manageSensors');

export const certificatesRouter = router({
  getAll: readable
    .meta({ question: true, summary: 'List certificates of sensors' })
    .input(listCertificatesInput)
    .output(certificatesPage)
    .query(async ({ ctx, input }) => pageOf('certificates', await viewCertificates(ctx, input), input.take)),

  getById: readable
    .meta({ summary: 'Get a certificate' })
    .input(byId)
    .output(certificate)
    .query(({ ctx, input }) => viewCertificate(ctx, input.id)),

  add: changeable
    .meta({
      summary: 'Add a certificate of a sensor',
      notes:
        'It is never changed or deleted afterwards: withdraw one that is wrong. A case of a speed violation needs a TYPE_APPROVAL and a CALIBRATION that cover the time of the event.',
    })
    .input(addCertificateInput)
    .output(certificate)
    .mutation(({ ctx, input }) => addCertificate(ctx, input)),

  withdraw: changeable
    .meta({
      summary: 'Withdraw a certificate',
      notes:
        'It covers nothing any more, not even the time before. Cases that are verified stay verified: `cases.unlock` begins anew with one.',
    })
    .input(withdrawCertificateInput)
    .output(certificate)
    .mutation(({ ctx, input }) => withdrawCertificate(ctx, input)),
});
