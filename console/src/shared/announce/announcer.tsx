import type { IncidentChange } from '@gantry/contract/incidents';
import type { SensorStatusChange } from '@gantry/contract/sensors';
import { Link, useLocation, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { Menu } from '../../ui/menu.tsx';
import { useLive } from '../live/use-live.ts';
import { useMay, useUser } from '../session/session.ts';
import { SeverityBadge } from '../status/badges.tsx';
import { useIncidentTitle } from '../status/incident-title.ts';
import {
  type Announcement,
  announce,
  type Group,
  hide,
  severityOf,
  useGroups,
  withdraw,
} from './announcements.ts';
import { notifyBrowser } from './browser-notices.ts';
import { forgetUnseen, type Kind, noteDone, noteOpen, type Told, useUnseen } from './unseen.ts';

/** A change that is older than this, in milliseconds, is counted but not announced: the tab was asleep. */
const OLD_MS = 15 * 60_000;

const icons: Readonly<Record<Kind, IconName>> = {
  alarm: 'alert',
  alert: 'watchlist',
  incident: 'incident',
  assignment: 'users',
  sensor: 'sensor',
};

/** The page of the one thing, or the list of several. */
function placeOf(kind: Kind, id: string | null): { to: string; search: Record<string, unknown> } {
  switch (kind) {
    case 'alarm':
      return { to: '/alarms', search: id ? {} : { acknowledged: false } };
    case 'alert':
      return { to: '/watchlist', search: id ? { alert: id } : { acknowledged: false, sortBy: 'priority' } };
    case 'sensor':
      return { to: id ? `/sensors/${id}` : '/sensors', search: {} };
    case 'incident':
      return { to: id ? `/incidents/${id}` : '/incidents', search: id ? {} : { view: 'list' } };
    case 'assignment':
      return {
        to: id ? `/incidents/${id}` : '/incidents',
        search: id ? {} : { view: 'list', assignedTo: 'me' },
      };
  }
}

function placeOfGroup({ kind, items }: Group) {
  return placeOf(kind, items.length === 1 ? (items[0]?.id ?? null) : null);
}

/**
 * Announces new incidents, incidents assigned to the user, failing sensors, and what other parts announce, on every
 * page: with a notice that links to it, a sound, to screen readers, and a notification of the browser.
 */
export function Announcer() {
  const { t } = useTranslation('common');
  const { kiosk } = useSearch({ from: '/shell' });
  const groups = useGroups();
  const sentence = useSentence();
  const navigate = useNavigate();
  useIncidents();
  useSensors();
  useAlarms();
  useSeen();
  const latest = groups.at(-1);
  const key = latest?.key;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each group
  useEffect(() => {
    if (!latest) return;
    const { to, search } = placeOfGroup(latest);
    const tag = latest.items.map(({ kind, id }) => `${kind} ${id}`).join();
    notifyBrowser(sentence(latest, false), tag, () => void navigate({ to, search: search as never }));
  }, [key]);
  return (
    <>
      <p aria-live="assertive" className="sr-only">
        {latest && sentence(latest, !kiosk)}
      </p>
      <div className="pointer-events-none fixed end-3 top-14 z-40 flex w-[min(22rem,calc(100vw-1.5rem))] flex-col gap-2 sm:top-auto sm:bottom-4 print:hidden">
        {groups.map((group) => (
          <div
            key={group.key}
            data-announcement={group.kind}
            className="pointer-events-auto flex items-start gap-2 rounded-md border border-line-strong bg-raised p-2 shadow-xl"
          >
            <Icon name={icons[group.kind]} className="mt-1 text-muted" />
            <div className="min-w-0 grow">
              <SeverityBadge severity={severityOf(group)} />
              <Link
                to={placeOfGroup(group).to}
                search={placeOfGroup(group).search as never}
                onClick={() => hide(group.key)}
                className="block text-accent underline pointer-coarse:min-h-11"
              >
                <bdi className="line-clamp-3">{sentence(group, !kiosk)}</bdi>
              </Link>
            </div>
            <Button
              kind="quiet"
              icon="close"
              iconOnly
              aria-label={t('dialog.close')}
              onClick={() => hide(group.key)}
            />
          </div>
        ))}
      </div>
    </>
  );
}

/** Announces incidents that others or events open, raise, or assign to the user. */
function useIncidents(): void {
  const user = useUser();
  const may = useMay('manageIncidents');
  const titleOf = useIncidentTitle();
  useLive((message) => {
    if (message.type !== 'incidents' || !may) return;
    const { action, incident, by, at } = message.change;
    const { id, severity, status, assignedTo } = incident;
    const isOver = status === 'RESOLVED' || status === 'CLOSED';
    if (status !== 'OPEN') noteDone('incident', id);
    if (isOver || assignedTo?.id !== user.id) noteDone('assignment', id);
    const what = newsOf(message.change, user.id);
    if (what === null) return;
    const kind = what === 'assigned' ? 'assignment' : 'incident';
    const told = { id, kind, severity, title: titleOf(incident) } as const;
    // An event that was late or a change that was missed is not new.
    if (incident.backlog && action === 'create' && by === null) return noteOpen(told);
    if (Date.now() - at.getTime() > OLD_MS) return noteOpen(told);
    announce({ ...told, what });
  });
}

function newsOf({ action, incident, by }: IncidentChange, userId: string): Announcement['what'] | null {
  if (by?.id === userId) return null;
  const isMine = incident.assignedTo?.id === userId;
  if (action === 'assign' || action === 'create') {
    if (isMine) return 'assigned';
    return action === 'create' ? 'opened' : null;
  }
  return action === 'update' && by === null ? 'raised' : null;
}

const severityOfStatus = { ERROR: 'HIGH', OFFLINE: 'MEDIUM' } as const;

/** Announces sensors that fail. */
function useSensors(): void {
  useLive((message) => {
    if (message.type !== 'sensors') return;
    const { sensorId: id, sensorName: title, to, at }: SensorStatusChange = message.change;
    if (to !== 'ERROR' && to !== 'OFFLINE') {
      withdraw('sensor', id);
      return noteDone('sensor', id);
    }
    const told = { id, kind: 'sensor', severity: severityOfStatus[to], title } as const;
    if (Date.now() - at.getTime() > OLD_MS) return noteOpen(told);
    announce({ ...told, what: to });
  });
}

/** Announces alarms that fire and are neither silenced nor parts of others. Hits are announced as alerts. */
function useAlarms(): void {
  const may = useMay('manageIncidents');
  useLive((message) => {
    if (message.type !== 'alarms' || !may) return;
    const { id, severity, state, source, place, ruleName, acknowledgedAt, firedAt, silencedBy, inhibitedBy } =
      message.alarm;
    if (state !== 'FIRING' || acknowledgedAt !== null || silencedBy !== null || inhibitedBy !== null) {
      withdraw('alarm', id);
      return noteDone('alarm', id);
    }
    if (source === 'HIT' || source === 'SENSOR_STATUS') return;
    const told = { id, kind: 'alarm', severity, title: place ?? ruleName } as const;
    if (Date.now() - (firedAt?.getTime() ?? 0) > OLD_MS) return noteOpen(told);
    announce({ ...told, what: 'alarm' });
  });
}

/** Marks as seen what the visible page shows. */
function useSeen(): void {
  const path = useLocation({ select: ({ pathname }) => pathname });
  const unseen = useUnseen();
  // biome-ignore lint/correctness/useExhaustiveDependencies: also when something is added while the page is open
  useEffect(() => {
    const see = () => {
      if (document.visibilityState !== 'visible') return;
      if (path.startsWith('/incidents')) forgetUnseen('incident', 'assignment');
      if (path.startsWith('/alarms')) forgetUnseen('alarm');
      if (path.startsWith('/sensors')) forgetUnseen('sensor');
    };
    see();
    document.addEventListener('visibilitychange', see);
    return () => document.removeEventListener('visibilitychange', see);
  }, [path, unseen.length]);
}

/** Describes a group: its only member by name, several by their number. */
function useSentence(): (group: Group, withPlate: boolean) => string {
  const { t } = useTranslation(['announce', 'common']);
  return ({ kind, items }, withPlate) => {
    const [first] = items;
    if (!first || items.length > 1) return t(`many.${kind}`, { count: items.length });
    const { what, title, plate, severity } = first;
    const name = [withPlate ? plate : undefined, title].filter(Boolean).join(' · ');
    return t(`one.${what}`, { name: `\u2068${name}\u2069`, severity: t(`common:severity.${severity}`) });
  };
}

/** Maximum number of entries in the menu of the bell. */
const MAX_LISTED = 10;

/** The number of announcements that have not been seen, and their menu. Hidden while there are none. */
export function Bell() {
  const { t, i18n } = useTranslation(['announce', 'common']);
  const unseen = useUnseen();
  const navigate = useNavigate();
  if (unseen.length === 0) return null;
  const count = unseen.length;
  const name = t('bell', { count });
  const go = ({ to, search }: ReturnType<typeof placeOf>) => void navigate({ to, search: search as never });
  return (
    <Menu
      trigger={
        <Button
          kind="quiet"
          icon="alert"
          title={name}
          aria-label={name}
          className="figures bg-high-surface! text-high!"
        >
          {count.toLocaleString(i18n.language)}
        </Button>
      }
      items={[
        ...unseen
          .slice(-MAX_LISTED)
          .reverse()
          .map(({ kind, id, title, severity }: Told) => ({
            label: (
              <span className="flex max-w-72 flex-col">
                <bdi className="one-line">{title || t(`kinds.${kind}`)}</bdi>
                <span className="text-sm text-muted">
                  {t(`kinds.${kind}`)} · {t(`common:severity.${severity}`)}
                </span>
              </span>
            ),
            icon: icons[kind],
            onSelect: () => go(placeOf(kind, id)),
          })),
        'line',
        ...[...new Set(unseen.map(({ kind }) => kind))].map((kind) => ({
          label: t(`all.${kind}`),
          onSelect: () => go(placeOf(kind, null)),
        })),
        {
          label: t('see'),
          icon: 'acknowledge',
          onSelect: () => forgetUnseen('alarm', 'alert', 'incident', 'assignment', 'sensor'),
        },
      ]}
    />
  );
}
