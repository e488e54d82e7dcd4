import { GantryError } from '@gantry/client';
import type { Device } from './device.ts';
import { isTemporaryCode, keepTrying, pause, waitBefore } from './retry.ts';
import type { TimedEvent } from './stream.ts';

/** The result of a call: the answer, a permanent refusal, or null when the device was stopped first. */
type Outcome<Result> = { readonly answer: Result } | { readonly refusal: GantryError } | null;

/**
 * Makes a call of the device and retries as long as necessary. An invalid key (deleted or rotated) stops the device.
 */
export async function speak<Result>(device: Device, work: () => Promise<Result>): Promise<Outcome<Result>> {
  const { tally, signal, random } = device;
  const { deviceId } = device.sensor;
  const onRetry = (): void => {
    tally.retries++;
    tally.waiting.add(deviceId);
  };
  try {
    const answer = await keepTrying(work, { signal, random, onRetry });
    return answer === undefined ? null : { answer };
  } catch (error) {
    if (!(error instanceof GantryError)) throw error;
    tally.lastRefusal = `${deviceId}: ${error.message}`;
    if (error.code !== 'UNAUTHORIZED') return { refusal: error };
    tally.dismissed.add(deviceId);
    tally.status.delete(deviceId);
    device.dismiss();
    return null;
  } finally {
    tally.waiting.delete(deviceId);
  }
}

/** Sends events one by one, as they happen. @returns those that were neither accepted nor refused */
export async function sendEach(
  device: Device,
  events: readonly TimedEvent[],
): Promise<readonly TimedEvent[]> {
  const { api, apiKey, tally, signal } = device;
  for (const [index, { input }] of events.entries()) {
    if (signal.aborted) return events.slice(index);
    const outcome = await speak(device, () => api.events.ingest.mutate({ apiKey, ...input }));
    if (outcome === null) return events.slice(index);
    if ('answer' in outcome) tally.sent++;
    else tally.refused++;
  }
  return [];
}

/**
 * Sends events in a batch, and those with temporary failures again.
 * @returns those that were neither accepted nor refused
 */
export async function sendBatch(
  device: Device,
  events: readonly TimedEvent[],
): Promise<readonly TimedEvent[]> {
  const { api, apiKey, tally, signal, random } = device;
  let left = events;
  for (let attempt = 0; left.length > 0; attempt++) {
    const inputs = left.map(({ input }) => input);
    const outcome = await speak(device, () => api.events.ingestBatch.mutate({ apiKey, events: inputs }));
    if (outcome === null) return left;
    if ('refusal' in outcome) {
      tally.refused += left.length;
      return [];
    }
    const { results } = outcome.answer;
    left = left.filter((_, index) => !isSettled(device, results[index]));
    if (left.length === 0) return [];
    tally.retries++;
    await pause(waitBefore(attempt, random), signal);
    if (signal.aborted) return left;
  }
  return left;
}

type ItemResult = Awaited<ReturnType<Device['api']['events']['ingestBatch']['mutate']>>['results'][number];

function isSettled({ tally, sensor }: Device, result: ItemResult | undefined): boolean {
  if (!result || ('error' in result && isTemporaryCode(result.error.code))) return false;
  if ('error' in result) {
    tally.refused++;
    tally.lastRefusal = `${sensor.deviceId}: ${result.error.message}`;
  } else {
    tally.sent++;
    if (result.duplicate) tally.duplicates++;
  }
  return true;
}
