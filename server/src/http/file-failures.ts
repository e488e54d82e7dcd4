import type { FastifyInstance } from 'fastify';

interface FileFailure extends Error {
  readonly statusCode?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Lets what serves files say by itself that a part of a file does not exist, or that the file is another by now. */
export function answerFileFailures(server: FastifyInstance): void {
  server.setErrorHandler((error: FileFailure, _request, reply) => {
    if (error.statusCode !== 412 && error.statusCode !== 416) throw error;
    return reply
      .code(error.statusCode)
      .headers({ ...error.headers })
      .send();
  });
}
