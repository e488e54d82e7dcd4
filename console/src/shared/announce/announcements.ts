import { severities } from '@gantry/contract/values';
import { useSyncExternalStore } from 'react';
import { soundAlert } from './sound.ts';
import { type Kind, noteOpen, type Told } from './unseen.ts';

/** Something new that every page announces. */
export interface Announcement extends Told {
  /** What has happened to it. */
  readonly what: 'alarm' | 'alert' | 'opened' | 'raised' | 'assigned' | 'OFFLINE' | 'ERROR';
  /** Shown in the notice, but neither stored nor shown outside the page. */
  readonly plate?: string;
}

/** Announcements of one kind that are shown together: a name for one, a number for more. */
export interface Group {
  readonly key: number;
  readonly kind: Kind;
  /** At least one. */
  readonly items: readonly Announcement[];
}

/** How long announcements of a kind are gathered, in milliseconds. */
const GATHER_MS = 400;
/** The least time between two groups of one kind: a thousand sensors that fail within a minute are twelve notices. */
const APART_MS = 5_000;
/** How long a notice is shown; critical ones longer. In milliseconds. */
const SHOWN_MS = 12_000;
const CRITICAL_MS = 60_000;
const MAX_SHOWN = 3;

const waiting = new Map<Kind, Announcement[]>();
const shownAt = new Map<Kind, number>();
let groups: readonly Group[] = [];
let next = 1;
const listeners = new Set<() => void>();

function show(now: readonly Group[]): void {
  groups = now;
  for (const listener of listeners) listener();
}

/** Announces something with a notice, its sound, and a count in the top bar. */
export function announce(announcement: Announcement): void {
  const { id, kind, severity, title } = announcement;
  noteOpen({ id, kind, severity, title });
  void soundAlert(`${kind} ${id}`, severity);
  const gathered = waiting.get(kind);
  if (gathered) return void gathered.push(announcement);
  waiting.set(kind, [announcement]);
  const since = performance.now() - (shownAt.get(kind) ?? Number.NEGATIVE_INFINITY);
  setTimeout(() => showGathered(kind), Math.max(GATHER_MS, APART_MS - since));
}

/** Withdraws what has not been shown yet, because it is over already. */
export function withdraw(kind: Kind, id: string): void {
  const gathered = waiting.get(kind);
  if (gathered)
    waiting.set(
      kind,
      gathered.filter((each) => each.id !== id),
    );
}

function showGathered(kind: Kind): void {
  const items = waiting.get(kind) ?? [];
  waiting.delete(kind);
  if (items.length === 0) return;
  shownAt.set(kind, performance.now());
  const key = next++;
  const group = { key, kind, items };
  const least = [...groups].sort((a, b) => rankOf(a) - rankOf(b) || a.key - b.key)[0];
  show([...(groups.length < MAX_SHOWN ? groups : groups.filter((each) => each !== least)), group]);
  setTimeout(() => hide(key), severityOf(group) === 'CRITICAL' ? CRITICAL_MS : SHOWN_MS);
}

/** Removes a notice. */
export function hide(key: number): void {
  if (groups.some((group) => group.key === key)) show(groups.filter((group) => group.key !== key));
}

/** The notices that are shown, the latest last. */
export function useGroups(): readonly Group[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => groups,
  );
}

/** The highest severity of a group. */
export function severityOf({ items }: Pick<Group, 'items'>): Announcement['severity'] {
  return severities[Math.max(...items.map(({ severity }) => severities.indexOf(severity)))] ?? 'LOW';
}

function rankOf(group: Group): number {
  return severities.indexOf(severityOf(group));
}
