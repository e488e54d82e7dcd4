/** What is kept of an answer. */
export interface Answer {
  readonly ok: boolean;
  readonly retryAfter: string | null;
  readonly requestId: string | null;
  json(): Promise<unknown>;
}
