import { readFile } from 'node:fs/promises';
import { mayDo } from '@gantry/contract/permissions';
import { imageUrl } from '@gantry/device-formats/image';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import pLimit from 'p-limit';
import { callerAs, signIn } from '../accounts/session.ts';
import type { AuthServices } from '../accounts/start.ts';
import type { ActivityServices } from '../activity/looks.ts';
import { findShownCopy } from '../cases/redaction.ts';
import { noteEvent } from '../events/note-looks.ts';
import { requireSeesPlates } from '../events/plate-access.ts';
import type { ImageServices } from '../images/start.ts';
import type { Core } from '../platform/context.ts';
import { notFound, unavailable } from '../platform/error.ts';
import { verifyProgram } from '../platform/installation.ts';
import type { RealtimeServices } from '../realtime/start.ts';
import { openReportFile } from '../reports/download.ts';
import { openPackage } from '../reports/packages/service.ts';
import type { PackageServices } from '../reports/packages/start.ts';
import type { ReportServices } from '../reports/start.ts';
import { drain } from '../rpc/budgets.ts';
import type { CallerOf } from '../rpc/exchange.ts';

const SHA256 = /^[0-9a-f]{64}$/;

/** Number of images that are read and verified at once, and the bytes of all that are not completely sent. */
const READS_AT_ONCE = 8;
const MAX_IN_FLIGHT_BYTES = 256_000_000;

/** Images are treated as data, whatever they contain: no scripts, no embedding, no guessing of another type. */
const HARMLESS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'",
};

/**
 * Serves images, and the files of certificates, by their SHA-256 to all users who are logged in; those of events, of messages
 * of devices and of cases, which may show plates, only to users who may see plates, and those that only a case has to users
 * who may verify cases. To others, an image of which a case has a redacted copy is that copy.
 */
export function serveImageFiles(
  server: FastifyInstance,
  app: Core & ActivityServices & AuthServices & ImageServices,
  callerOf: CallerOf,
): void {
  const inTurn = pLimit(READS_AT_ONCE);
  let inFlight = 0;
  /** Counts the bytes of an image until the answer has ended. @throws AppError `unavailable` when they are too many */
  const hold = ({ raw }: FastifyReply, bytes: number): void => {
    if (raw.destroyed) return;
    if (inFlight + bytes > MAX_IN_FLIGHT_BYTES)
      throw unavailable('Too many images are being sent: try again in a moment');
    inFlight += bytes;
    raw.once('close', () => {
      inFlight -= bytes;
    });
  };

  const serve = async (request: FastifyRequest<{ Params: { sha256: string } }>, reply: FastifyReply) => {
    const asked = callerOf(request.raw, request.id);
    const actor = await signIn({ app, caller: asked });
    const caller = callerAs(asked, actor);
    const { sha256 } = request.params;
    const image = SHA256.test(sha256) ? await app.images.find(sha256) : null;
    if (!image) throw notFound('Image');
    const { device, note, certificate, case: isOfCase } = await app.images.ownersOf(sha256);
    // An image to which nothing refers may be one of a device, whose event was deleted.
    if (!actor.seesPlates && (device || !(note || certificate))) requireSeesPlates({ app, caller, actor });
    if (isOfCase && !mayDo(actor.role, 'verifyCases')) {
      const copy = await findShownCopy(app.db, sha256);
      // The address is that of these bytes, so it does not answer with other ones.
      if (copy !== null && copy !== sha256)
        return reply.header('cache-control', 'private, no-store').redirect(imageUrl(copy), 302);
      if (copy === null && !(device || note || certificate)) throw notFound('Image');
    }
    if (request.method === 'GET') {
      const eventId = await app.images.eventOf(sha256);
      const look = { userId: actor.id, caller, action: 'images.view', subject: { sha256 } } as const;
      await (eventId === null ? app.looks.note(look) : noteEvent({ app, actor, caller }, eventId));
    }
    const tag = `"${sha256}"`;
    const describe = () =>
      reply
        .headers(HARMLESS)
        .header('cache-control', 'private, max-age=31536000, immutable')
        // A browser keeps the image for one token only: the next user may not see it, and each user's view is recorded.
        .header('vary', 'Origin, Authorization')
        .header('accept-ranges', 'bytes')
        .header('etag', tag);
    if (isKnown(request.headers['if-none-match'], tag)) return describe().code(304).send();

    const { range: wanted, 'if-range': ifRange } = request.headers;
    const range = ifRange === undefined || ifRange === tag ? readRange(wanted, image.bytes) : null;
    if (range === 'none') {
      return describe().code(416).header('content-range', `bytes */${image.bytes}`).send();
    }
    const part = range ?? { start: 0, end: image.bytes - 1 };
    // All of it is verified, also for a part of it, before the first byte is sent.
    hold(reply, image.bytes);
    const content = await inTurn(() => app.images.read(image));
    const body = request.method === 'HEAD' ? '' : content.subarray(part.start, part.end + 1);
    describe()
      .code(range ? 206 : 200)
      .header('content-type', image.mediaType)
      .header('content-length', part.end - part.start + 1);
    if (range) reply.header('content-range', `bytes ${part.start}-${part.end}/${image.bytes}`);
    return reply.send(body);
  };

  server.route({ method: ['GET', 'HEAD'], url: '/images/:sha256', handler: serve });
}

function isKnown(header: string | undefined, tag: string): boolean {
  return (header ?? '')
    .split(',')
    .map((each) => each.trim().replace(/^W\//, ''))
    .some((each) => each === '*' || each === tag);
}

/** A part of a file: both positions inclusive, from 0. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * The range of a file that a Range header requests (RFC 9110, 14.2).
 * @param bytes size of the file, at least 1
 * @returns null for the whole file, including for several ranges and for headers that are not understood; `none` when
 * the range is not satisfiable
 */
function readRange(header: string | undefined, bytes: number): ByteRange | 'none' | null {
  const [, first, last] = RANGE.exec(header?.trim() ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return null;
  if (first === '') {
    return Number(last) === 0 ? 'none' : { start: Math.max(0, bytes - Number(last)), end: bytes - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return null;
  return start >= bytes
    ? 'none'
    : { start, end: last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1) };
}

/** Serves the files of reports to users with a token. */
export function serveReportFiles(
  server: FastifyInstance,
  app: Core & AuthServices & ReportServices,
  callerOf: CallerOf,
): void {
  server.get<{ Params: { id: string } }>(
    '/reports/:id/file',
    { exposeHeadRoute: false },
    async (request, reply) => {
      drain(request.raw, reply.raw);
      const { name, contentType, size, stream } = await openReportFile(
        { app, caller: callerOf(request.raw, request.id) },
        request.params.id,
      );
      return reply
        .header('content-type', contentType)
        .header('content-length', size)
        .header('content-disposition', `attachment; filename="${name}"`)
        .header('cache-control', 'private, no-store')
        .send(stream);
    },
  );
}

/** Serves the files of evidence packages to users who verify cases. */
export function servePackageFiles(
  server: FastifyInstance,
  app: Core & AuthServices & PackageServices & Pick<RealtimeServices, 'outbox'>,
  callerOf: CallerOf,
): void {
  server.get<{ Params: { id: string } }>(
    '/cases/exports/:id/file',
    { exposeHeadRoute: false },
    async (request, reply) => {
      drain(request.raw, reply.raw);
      const caller = callerOf(request.raw, request.id);
      const { name, size, stream } = await openPackage({ app, caller }, request.params.id);
      return reply
        .header('content-type', 'application/zip')
        .header('content-length', size)
        .header('content-disposition', `attachment; filename="${name}"`)
        .header('cache-control', 'private, no-store')
        .send(stream);
    },
  );
}

/** Serves the program that verifies evidence packages to everybody. */
export function serveVerifyProgram(server: FastifyInstance): void {
  server.get('/evidence/gantry-verify.mjs', async (_request, reply) =>
    reply
      .header('content-type', 'text/javascript; charset=utf-8')
      .header('content-disposition', 'attachment; filename="gantry-verify.mjs"')
      .header('cache-control', 'no-cache')
      .send(await readFile(verifyProgram)),
  );
}
