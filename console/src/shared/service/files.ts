import { GantryError, type GantryErrorCode } from '@gantry/client';
import { setSessionEnded } from '../session/flags.ts';
import { currentSession } from '../session/session.ts';

/** Downloads a file from the service, such as an image or a report. @throws GantryError as API requests do */
export async function fetchFile(address: string, signal?: AbortSignal): Promise<Blob> {
  return (await request(address, { signal: signal ?? null })).blob();
}

/** Sends a file as the body of a request. @returns what the service made of it @throws GantryError as API requests do */
export async function sendFile(address: string, file: File): Promise<{ readonly id: string }> {
  return (await request(address, { method: 'PUT', body: file })).json();
}

async function request(address: string, init: RequestInit): Promise<Response> {
  const token = currentSession()?.token;
  const answer = await fetch(address, {
    ...init,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  }).catch((cause: unknown) => {
    throw new GantryError('UNREACHABLE', 'The service cannot be reached', { cause });
  });
  if (answer.ok) return answer;
  // The session may have been renewed meanwhile.
  if (answer.status === 401 && token === currentSession()?.token) setSessionEnded(true);
  const { code, message } = await failureIn(answer);
  const requestId = answer.headers.get('x-request-id') ?? undefined;
  throw new GantryError(code, message, { httpStatus: answer.status, requestId });
}

/** Saves a file as a download of the browser under the given name. */
export function saveFile(file: Blob, name: string): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/**
 * Downloads a file that requires the session token, and saves it. A plain link could not send the token.
 * @param path as the service names it
 * @throws GantryError as API requests do
 */
export async function downloadFile(path: string, name: string): Promise<void> {
  saveFile(await fetchFile(addressOf(path)), name);
}

/** Number of characters that are converted at once, because a call has a limited number of arguments. */
const PART = 8_192;

/** The content of a file in base64, as the service takes it in JSON. */
export async function base64Of(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const parts = Array.from({ length: Math.ceil(bytes.length / PART) }, (_, n) =>
    String.fromCharCode(...bytes.subarray(n * PART, (n + 1) * PART)),
  );
  return btoa(parts.join(''));
}

/** The code and message of an error response. */
async function failureIn(answer: Response): Promise<{ code: GantryErrorCode; message: string }> {
  try {
    const { error } = (await answer.json()) as {
      error: { json: { message: string; data: { code: GantryErrorCode } } };
    };
    return { code: error.json.data.code, message: error.json.message };
  } catch {
    return { code: 'INVALID_RESPONSE', message: `Not an answer of a Gantry service: HTTP ${answer.status}` };
  }
}

/** URL of the service: the origin of the page, unless the console was built for another service (`GANTRY_API`). */
export const serviceAddress: string = import.meta.env.GANTRY_API || location.origin;

/** The URL of a resource that the service names by its path, such as an image or a report file. */
export function addressOf(path: string): string {
  return new URL(path, serviceAddress).href;
}
