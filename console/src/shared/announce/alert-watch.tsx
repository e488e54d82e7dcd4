import { useLive } from '../live/use-live.ts';
import { useTitleCount } from '../page/title.ts';
import { useMay } from '../session/may.ts';
import { isNewAlert, noteAnnounced, noteFollowing } from './announced.ts';
import { announce } from './announcements.ts';
import { useSpeaker } from './sound.ts';
import { noteDone, noteOpen, useUnseen } from './unseen.ts';

/**
 * Announces new alerts on every page, except those from a backlog, and counts all announcements in the document title.
 */
export function AlertWatch() {
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
