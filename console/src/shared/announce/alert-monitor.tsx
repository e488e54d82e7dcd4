import type { WatchlistAlert } from '@gantry/contract/watchlist';
import { useLive } from '../live/use-live.ts';
import { useTitleCount } from '../page/title.ts';
import { useMay } from '../session/session.ts';
import { announce } from './announcements.ts';
import { useSpeaker } from './sound.ts';
import { noteDone, noteOpen, toldBefore, useUnseen } from './unseen.ts';

/**
 * Announces new alerts on every page, except those from a backlog, and counts all announcements in the document title.
 */
export function AlertMonitor() {
  const may = useMay('manageIncidents');
  const count = useUnseen().length;
  useSpeaker();
  useLive((message) => {
    if (message.type === 'upToDate') return noteFollowing(message.at);
    if (message.type !== 'watchlist' || !may) return;
    const { id, priority, acknowledgedAt, licensePlateNumber, locationName, sensorName, backlog } =
      message.alert;
    if (acknowledgedAt) {
      noteAnnounced(id);
      return noteDone('alert', id);
    }
    const told = { id, kind: 'alert', severity: priority, title: locationName ?? sensorName ?? '' } as const;
    noteOpen(told);
    if (isNewAlert(message.alert) && !backlog)
      announce({ ...told, what: 'alert', plate: licensePlateNumber });
  });
  useTitleCount(count);
  return null;
}

/** The maximum number of ids in `announced`. */
const MAX_ANNOUNCED = 1_000;
/** The longest delay between an alert's `createdAt` and its arrival, in milliseconds. */
const LATE_MS = 60_000;

/** The ids of the alerts that this tab received. Each tab keeps its own: any of them may have to play the sound. */
const announced = new Set(toldBefore());
let followedSince: number | null = null;

/** Records the service's time at which this tab started to follow the stream. Later calls have no effect. */
function noteFollowing(at: Date): void {
  followedSince ??= at.getTime();
}

/**
 * Whether an open alert has to be announced. The stream does not distinguish a new alert from one whose acknowledgement
 * was undone. Must be called once per message, because it records the alert as announced.
 */
function isNewAlert({ id, createdAt }: Pick<WatchlistAlert, 'id' | 'createdAt'>): boolean {
  const isOld = followedSince !== null && createdAt.getTime() < followedSince - LATE_MS;
  if (announced.has(id) || isOld) return false;
  noteAnnounced(id);
  return true;
}

/** Records an alert that must not be announced any more. */
function noteAnnounced(id: string): void {
  announced.add(id);
  if (announced.size > MAX_ANNOUNCED)
    for (const oldest of [...announced].slice(0, MAX_ANNOUNCED / 2)) announced.delete(oldest);
}
