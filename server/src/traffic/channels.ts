import type { Channel, MeasuringPoint, StoredChannel } from '@gantry/contract/points';
import { directions } from '@gantry/contract/values';
import { directionOfText, laneOfText, movementOfText, movementText } from '../events/passage-columns.ts';
import type { Kind } from './slots-store.ts';

// Which part of what a sensor reports an assignment is about, and whether a measuring point has that direction.

/** The channel of everything that no other assignment of the sensor names. */
const EVERYTHING = '*';

/** How a vehicle passed, as texts; '' for what is not known. */
export type Passed = Pick<Kind, 'direction' | 'lane' | 'movement'>;

export function storedChannel(given: Channel): StoredChannel {
  if (typeof given === 'string') return given === EVERYTHING ? {} : { name: given };
  const { direction, lane, movement } = given;
  return {
    ...(direction !== undefined && { direction: String(direction) }),
    ...(lane !== undefined && { lane: String(lane) }),
    ...(movement && { movement: movementText(movement) }),
  };
}

export function channelOf({ name, direction, lane, movement }: StoredChannel): Channel {
  if (name !== undefined) return name;
  const parts = {
    ...(direction !== undefined && { direction: directionOfText(direction) }),
    ...(lane !== undefined && { lane: laneOfText(lane) }),
    ...(movement !== undefined && { movement: movementOfText(movement) }),
  };
  return Object.keys(parts).length === 0 ? EVERYTHING : parts;
}

/** Whether a passage is in a channel. */
export function isInChannel(channel: StoredChannel, { direction, lane, movement }: Passed): boolean {
  const { name } = channel;
  return (
    (name === undefined || name === direction || name === lane || name === movement) &&
    (channel.direction ?? direction) === direction &&
    (channel.lane ?? lane) === lane &&
    (channel.movement ?? movement) === movement
  );
}

/** How much a channel says: of several that a passage is in, the one that says most is meant. */
export function specificity(channel: StoredChannel): number {
  return Object.keys(channel).length;
}

/** The direction that a channel names, as a text; null for none. Degrees in a name may be the name of a lane. */
export function directionIn({ name, direction }: StoredChannel): string | null {
  if (name === undefined) return direction ?? null;
  return (directions as readonly string[]).includes(name) ? name : null;
}

/** The degrees of a direction of travel, clockwise from north; null if it has none. */
export function degreesOf(direction: string): number | null {
  const eighth = (directions.slice(0, 8) as readonly string[]).indexOf(direction);
  if (eighth >= 0) return eighth * 45;
  return /^\d/.test(direction) ? Number(direction) : null;
}

/** The angle between two directions, from 0 to 180 degrees. */
export function angleBetween(one: number, other: number): number {
  const angle = Math.abs(one - other) % 360;
  return Math.min(angle, 360 - angle);
}

/**
 * Whether vehicles of a direction, as reported, may pass a point: those that differ by 90° or more from it do not, nor do
 * those the other way round a ring. What says nothing about the direction of travel may.
 */
export function hasDirection(
  point: Pick<MeasuringPoint, 'direction' | 'bearing'>,
  direction: string,
): boolean {
  if (point.direction === 'BOTH') return true;
  const ring = ['CW', 'CCW'];
  if (ring.includes(direction) && ring.includes(point.direction)) return direction === point.direction;
  const [own, reported] = [point.bearing ?? degreesOf(point.direction), degreesOf(direction)];
  return own === null || reported === null || angleBetween(own, reported) < 90;
}
