import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLive } from '../live/use-live.ts';
import { useMay } from '../session/may.ts';
import { useTitleCount } from '../shell/title.ts';
import { Icon } from '../ui/icon.tsx';
import { isNewAlert, noteAnnounced, noteFollowing } from './announced.ts';
import { soundAlert, useSpeaker } from './sound.ts';
import { noteAcknowledged, noteOpen, useUnseenCount } from './unseen.ts';

/** Announces new alerts on every page: with a sound, to screen readers, and as a count in the document title. */
export function AlertWatch() {
  return useMay('manageIncidents') && <Watch />;
}

function Watch() {
  const { t } = useTranslation(['watchlist', 'common']);
  const { kiosk } = useSearch({ from: '/shell' });
  const [said, setSaid] = useState('');
  const count = useUnseenCount();
  useSpeaker();
  useLive((message) => {
    if (message.type === 'upToDate') return noteFollowing(message.at);
    if (message.type !== 'watchlist') return;
    const { id, priority, acknowledgedAt, licensePlateNumber, locationName, sensorName } = message.alert;
    if (acknowledgedAt) {
      noteAnnounced(id);
      return noteAcknowledged(id);
    }
    noteOpen(id);
    if (!isNewAlert(message.alert)) return;
    const severity = t(`common:severity.${priority}`);
    const place = locationName ?? sensorName ?? '';
    // A wall display does not disclose plates to passers-by.
    setSaid(t('alerts.said', { severity, plate: kiosk ? '' : licensePlateNumber, place }));
    void soundAlert(id, priority);
  });
  useTitleCount(count);
  return (
    <p aria-live="assertive" className="sr-only">
      {said}
    </p>
  );
}

/** The number of unseen alerts in the top bar, as a link to the watchlist. Hidden while there are none. */
export function AlertBell() {
  const { t, i18n } = useTranslation('watchlist');
  const may = useMay('manageIncidents');
  const count = useUnseenCount();
  if (!may || count === 0) return null;
  const n = count.toLocaleString(i18n.language);
  return (
    <Link
      to="/watchlist"
      title={t('alerts.new', { count, n })}
      aria-label={t('alerts.new', { count, n })}
      className="figures inline-flex min-h-8 items-center gap-1 rounded-md bg-high-surface px-2 text-high pointer-coarse:min-h-11"
    >
      <Icon name="alert" />
      {n}
    </Link>
  );
}
