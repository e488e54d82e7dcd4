import type { FastifyInstance } from 'fastify';

interface FileFailure extends Error {
  readonly statusCode?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers with the refusals of the file server: the file has changed (412), or the range does not exist (416). */
export function answerFileFailures(server: FastifyInstance): void {
  server.setErrorHandler((error: FileFailure, _request, reply) => {
    if (error.statusCode !== 412 && error.statusCode !== 416) throw error;
    return reply
      .code(error.statusCode)
      .headers({ ...error.headers })
      .send();
  });
}
