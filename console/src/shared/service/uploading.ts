import { createGantryClient, type GantryClient } from '@gantry/client';
import { currentSession } from '../session/session.ts';
import { serviceAddress } from './files.ts';

/** Timeout in milliseconds; long, because a large request takes time on a slow connection. */
const TIMEOUT_MS = 120_000;

/** Requests with large inputs, such as pictures. @param onSent receives the share that was sent, from 0 to 1 */
export function uploading(onSent: (part: number) => void): GantryClient['api'] {
  const client = createGantryClient({
    url: serviceAddress,
    fetch: fetchWithProgress(onSent),
    timeoutMs: TIMEOUT_MS,
  });
  client.setToken(currentSession()?.token ?? null);
  return client.api;
}

/** A `fetch` based on XMLHttpRequest, because `fetch` does not report the progress of uploads. */
function fetchWithProgress(onSent: (part: number) => void): typeof fetch {
  return (input, init = {}) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open(init.method ?? 'GET', String(input));
      new Headers(init.headers).forEach((value, name) => {
        request.setRequestHeader(name, value);
      });
      request.upload.onprogress = ({ loaded, total, lengthComputable }) => {
        if (lengthComputable) onSent(loaded / total);
      };
      request.onload = () => resolve(answerOf(request));
      request.onerror = () => reject(new TypeError('the connection failed'));
      request.onabort = () => reject(new DOMException('The call was aborted', 'AbortError'));
      init.signal?.addEventListener('abort', () => request.abort());
      request.send(init.body as XMLHttpRequestBodyInit | null | undefined);
    });
}

function answerOf(request: XMLHttpRequest): Response {
  const headers = new Headers();
  for (const name of ['retry-after', 'x-request-id']) {
    const value = request.getResponseHeader(name);
    if (value !== null) headers.set(name, value);
  }
  return new Response(request.responseText, { status: request.status, headers });
}
