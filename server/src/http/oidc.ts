import type { FastifyInstance, FastifyRequest } from 'fastify';
import { beginOidcLogin, OIDC_PATH, takeOidcAnswer } from '../accounts/oidc/login.ts';
import type { AuthServices } from '../accounts/start.ts';
import type { Core } from '../platform/context.ts';
import { failureOf, WireError } from '../rpc/errors.ts';
import type { CallerOf } from '../rpc/exchange.ts';

const CALLBACK = `${OIDC_PATH}/callback`;

/**
 * Serves the two addresses of a login at the OpenID Connect provider. Both redirect: to the provider, and back to the
 * sign-in page with a code or an error message in the fragment, which browsers do not send to any server.
 */
export function serveOidc(server: FastifyInstance, app: Core & AuthServices, callerOf: CallerOf): void {
  const callbackOf = ({ headers }: FastifyRequest): URL => {
    const address = app.config.OIDC_REDIRECT_URL ?? `http://${headers.host || 'localhost'}${CALLBACK}`;
    if (URL.canParse(address)) return new URL(address);
    throw new WireError('BAD_REQUEST', 'The Host header does not name a host');
  };

  const pageWith = (request: FastifyRequest, name: 'oidcCode' | 'oidcError', value: string): string => {
    const page = new URL(app.config.OIDC_RETURN_URL ?? new URL('../../sign-in', callbackOf(request)));
    page.hash = new URLSearchParams({ [name]: value }).toString();
    return page.href;
  };

  const attempt = async (request: FastifyRequest, work: () => Promise<string>): Promise<string> => {
    try {
      return await work();
    } catch (error) {
      const { body, unexpected } = failureOf(error);
      if (unexpected) app.log.error({ err: error, requestId: request.id }, 'a request failed');
      else
        app.log.info({ reason: body.message, requestId: request.id }, 'a login at the provider was refused');
      return pageWith(request, 'oidcError', body.message);
    }
  };

  // A HEAD request must not use up the answer of the provider.
  const onlyGet = { exposeHeadRoute: false };
  server.get<{ Querystring: { challenge?: unknown } }>(OIDC_PATH, onlyGet, async (request, reply) => {
    const ctx = { app, caller: callerOf(request.raw, request.id) };
    const { challenge } = request.query;
    const to = await attempt(
      request,
      async () => (await beginOidcLogin(ctx, String(challenge ?? ''), callbackOf(request))).href,
    );
    return reply.header('cache-control', 'no-store').redirect(to, 302);
  });

  server.get(CALLBACK, onlyGet, async (request, reply) => {
    const ctx = { app, caller: callerOf(request.raw, request.id) };
    const answer = callbackOf(request);
    answer.search = new URL(request.url, answer).search;
    const to = await attempt(request, async () =>
      pageWith(request, 'oidcCode', await takeOidcAnswer(ctx, answer)),
    );
    return reply.header('cache-control', 'no-store').redirect(to, 302);
  });
}
