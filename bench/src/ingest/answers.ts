// The format of answers. It is checked for every request, so `events.ingest` is checked with a few comparisons only.

const BEFORE_ID = '{"result":{"data":{"json":{"success":true,"eventId":"';
const AFTER_ID = '"}}}}';
const ID_LENGTH = 36;
const ANSWER_LENGTH = BEFORE_ID.length + ID_LENGTH + AFTER_ID.length;

/** The answer of Gantry to `events.ingest` for an event with that id. */
export function ingestAnswer(eventId: string): string {
  return `${BEFORE_ID}${eventId}${AFTER_ID}`;
}

/** The number of events that an answer of `events.ingest` acknowledges: 1, or 0 when it is not such an answer. */
export function acknowledgedByIngest(body: string): number {
  return body.length === ANSWER_LENGTH && body.startsWith(BEFORE_ID) && body.endsWith(AFTER_ID) ? 1 : 0;
}

/** The number of events that an answer of `events.ingestBatch` acknowledges as newly stored. */
export function acknowledgedByBatch(body: string): number {
  try {
    const results: unknown = JSON.parse(body).result.data.json.results;
    return Array.isArray(results) ? results.filter(isStored).length : 0;
  } catch {
    // Not an answer of the service: it acknowledges nothing, and the run fails and shows the body.
    return 0;
  }
}

function isStored(result: unknown): boolean {
  return (
    typeof result === 'object' &&
    result !== null &&
    'eventId' in result &&
    'duplicate' in result &&
    result.duplicate === false
  );
}
