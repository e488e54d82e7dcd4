import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom, mix, type Random } from '@gantry/simulator/src/random.ts';
import { makeImage } from './image.ts';
import { contentOf, type Entry, type Journal } from './journal.ts';

/** Time limit of devices for a call, in milliseconds. The service itself answers within 30 s. */
const CALL_TIMEOUT_MS = 35_000;

/** The share of events with an image of their own. */
const WITH_IMAGE = 0.15;

/** Pause of a device before it repeats an event, in milliseconds. */
const RETRY_MS = 250;

/** The pattern on the watchlist, which about a tenth of the plates match. */
export const WATCHED_PLATE = 'WATCH*';

/** The address and the keys that devices use. The address may change while they send. */
export interface Destination {
  url: string;
  readonly apiKeys: readonly string[];
}

export interface Devices {
  /** Sends no new events, and repeats unanswered ones that have a key for up to `patienceMs`. Resolves when all devices are done. */
  finish(patienceMs: number): Promise<void>;
  /** When the last event was acknowledged (performance.now). */
  readonly lastAcknowledged: number;
}

export interface DevicesOptions {
  readonly journal: Journal;
  readonly destination: Destination;
  readonly count: number;
  readonly seed: number;
  /** Pause of a device between two events, in milliseconds. */
  readonly pauseMs: number;
}

interface Answer {
  readonly status: number;
  readonly eventId: string | null;
  readonly text: string;
}

const TYPES = ['VEHICLE_DETECTION', 'SPEED_DETECTION', 'PLATE_RECOGNITION', 'TRAFFIC_VIOLATION'] as const;
let scenes = 0;

/** Starts devices that report events one after another, and repeat unanswered ones that have an idempotency key. */
export function startDevices({ journal, destination, count, seed, pauseMs }: DevicesOptions): Devices {
  const scene = ++scenes;
  let finishing = false;
  let deadline = Number.POSITIVE_INFINITY;
  let lastAcknowledged = 0;

  const breach = (entry: Entry, sentence: string): void => {
    if (journal.breaches.length < 50) journal.breaches.push(`${entry.id}: ${sentence}`);
  };

  /** Sends an event, and records the answer. @returns whether the device need not send it again */
  const send = async (entry: Entry): Promise<boolean> => {
    const apiKey = destination.apiKeys[entry.sensor % destination.apiKeys.length];
    const answer = await call(destination.url, 'events.ingest', { apiKey, ...entry.input });
    if (answer === null || [408, 429, 502, 503, 504].includes(answer.status)) return !entry.isKeyed;
    if (answer.status === 200) {
      if (entry.eventId !== null && entry.eventId !== answer.eventId)
        breach(entry, `acknowledged as ${entry.eventId} and as ${answer.eventId}`);
      entry.eventId = answer.eventId;
      entry.outcome = 'acknowledged';
      lastAcknowledged = performance.now();
      return true;
    }
    const isBad = entry.input.vehicleSpeed === -1;
    if (answer.status !== 400 || !isBad)
      breach(entry, `answered ${answer.status}: ${answer.text.slice(0, 200)}`);
    if (entry.outcome === 'acknowledged') return true;
    entry.outcome = 'refused';
    return true;
  };

  const sendUntilAnswered = async (entry: Entry): Promise<void> => {
    while (!(await send(entry)) && performance.now() < deadline) await sleep(RETRY_MS);
  };

  /** Sends other content with a used key, which must be refused and must not change what is stored. */
  const provoke = async (entry: Entry): Promise<void> => {
    const apiKey = destination.apiKeys[entry.sensor % destination.apiKeys.length];
    const answer = await call(destination.url, 'events.ingest', {
      apiKey,
      ...entry.input,
      vehicleSpeed: 199,
    });
    if (answer !== null && answer.status < 500 && ![408, 409, 429].includes(answer.status))
      breach(entry, `its key with other content was answered ${answer.status}`);
  };

  const live = async (device: number): Promise<void> => {
    const random = createRandom(mix(seed, device + scene * 1_000));
    for (let n = 0; !finishing; n++) {
      const entry = makeEntry(journal, random, device, n, scene);
      await sendUntilAnswered(entry);
      const isDone = entry.isKeyed && entry.outcome === 'acknowledged';
      if (isDone && random.next() < 0.05) await send(entry);
      if (isDone && random.next() < 0.02) await provoke(entry);
      await sleep(pauseMs * (0.5 + random.next()));
    }
  };
  const living = Promise.all(Array.from({ length: count }, (_, device) => live(device)));

  return {
    get lastAcknowledged() {
      return lastAcknowledged;
    },
    async finish(patienceMs) {
      finishing = true;
      deadline = performance.now() + patienceMs;
      await living;
    },
  };
}

/** One call of a procedure; null without an answer. */
async function call(url: string, procedure: string, input: unknown): Promise<Answer | null> {
  try {
    const response = await fetch(`${url}/trpc/${procedure}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ json: input }),
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    });
    const text = await response.text();
    const eventId = response.status === 200 ? String(JSON.parse(text).result.data.json.eventId) : null;
    return { status: response.status, eventId, text };
  } catch {
    return null;
  }
}

function makeEntry(journal: Journal, random: Random, device: number, n: number, scene: number): Entry {
  const id = `${scene}-${device}-${n}`;
  const isKeyed = random.next() < 0.85;
  const isBad = random.next() < 0.02;
  const eventType = random.next() < 0.03 ? 'INCIDENT' : random.pick(TYPES);
  const licensePlateNumber =
    random.next() < 0.1 ? `WATCH ${random.whole(1, 99)}` : `${random.whole(100, 999)} ABC`;
  const violationType = random.next() < 0.3 ? 'SPEEDING' : null;
  const vehicleSpeed = isBad ? -1 : random.whole(20, 140);
  const time = Date.now();
  const image = random.next() < WITH_IMAGE ? makeImage(random.whole(500, 15_000)) : null;
  const input = {
    eventType,
    description: id,
    licensePlateNumber,
    violationType,
    vehicleSpeed,
    ...(image !== null && { images: [image] }),
    ...(isKeyed && { timestamp: new Date(time).toISOString(), idempotencyKey: id }),
  };
  const content = { description: id, eventType, violationType, licensePlateNumber, vehicleSpeed };
  return journal.add({
    id,
    input,
    sensor: device,
    isKeyed,
    hash: contentOf({ ...content, time: isKeyed ? time : null }),
    image: image === null ? null : hash('sha256', Buffer.from(image, 'base64')),
  });
}
