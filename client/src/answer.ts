/** The parts of an HTTP response that the client uses. */
export interface Answer {
  readonly ok: boolean;
  readonly status: number;
  readonly retryAfter: string | null;
  readonly requestId: string | null;
  json(): Promise<unknown>;
}
