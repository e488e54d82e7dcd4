/** The parts of an answer that are kept. */
export interface Answer {
  readonly ok: boolean;
  readonly retryAfter: string | null;
  readonly requestId: string | null;
  json(): Promise<unknown>;
}
