import type { Severity } from '@gantry/contract/events';
import { createStored } from '../../ui/stored.ts';
import { currentSession, onSessionChange } from '../session/session.ts';

/** What can be announced: alarms, alerts of the watchlist, new incidents, incidents assigned to the user, failing sensors. */
export type Kind = 'alarm' | 'alert' | 'incident' | 'assignment' | 'sensor';

/** The maximum number of announcements that are remembered, and so of those that are counted. */
const MAX_TOLD = 99;

/** Something that this browser was told of. It contains no plate. */
export interface Told {
  /** Of the alarm, alert, incident or sensor. */
  readonly id: string;
  readonly kind: Kind;
  readonly severity: Severity;
  /** The title of the incident, the name of the sensor, or the place of the alert. */
  readonly title: string;
}

interface Remembered extends Told {
  readonly isOpen: boolean;
  readonly isSeen: boolean;
}

function isRemembered(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each?.title === 'string');
}

/** The latest announcements that this browser received. The most recently changed ones are last. */
const stored = createStored<readonly Remembered[]>('announced', [], isRemembered);

// They name incidents and sensors, so they are removed at sign-out.
let userId = currentSession()?.user.id;
onSessionChange(() => {
  if (currentSession()?.user.id === userId) return;
  userId = currentSession()?.user.id;
  stored.set([]);
});

const isUnseen = ({ isOpen, isSeen }: Remembered): boolean => isOpen && !isSeen;

/** The open ones that have not been seen in this browser, the latest last. */
export function useUnseen(): readonly Told[] {
  return stored.use().filter(isUnseen);
}

/** Whether there are some of a kind, open or not, that have not been seen in this browser. */
export function useHasUnseen(kind: Kind): boolean {
  return stored.use().some((each) => each.kind === kind && !each.isSeen);
}

/** Records something that is open: new, or open again because an action was undone. */
export function noteOpen(told: Told): void {
  const all = stored.get();
  const known = all.find((each) => isSame(each, told));
  if (known?.isOpen && known.severity === told.severity) return;
  // What has become more severe has to be seen again.
  const isSeen = known?.isSeen === true && known.severity === told.severity;
  stored.set(
    [...all.filter((each) => !isSame(each, told)), { ...told, isOpen: true, isSeen }].slice(-MAX_TOLD),
  );
}

/** Records that somebody attends to it, or that it is over. */
export function noteDone(kind: Kind, id: string): void {
  const isIt = (each: Remembered) => isSame(each, { kind, id });
  if (stored.get().some((each) => isIt(each) && each.isOpen))
    stored.set(stored.get().map((each) => (isIt(each) ? { ...each, isOpen: false } : each)));
}

/** Marks all of these kinds as seen. */
export function forgetUnseen(...kinds: readonly Kind[]): void {
  const isOne = ({ kind, isSeen }: Remembered) => kinds.includes(kind) && !isSeen;
  if (stored.get().some(isOne))
    stored.set(stored.get().map((each) => (isOne(each) ? { ...each, isSeen: true } : each)));
}

/** The ids of the alerts that this browser received before, so that a reloaded page does not announce them again. */
export function toldBefore(): readonly string[] {
  return stored.get().flatMap(({ kind, id }) => (kind === 'alert' ? [id] : []));
}

function isSame(one: Pick<Told, 'kind' | 'id'>, other: Pick<Told, 'kind' | 'id'>): boolean {
  return one.kind === other.kind && one.id === other.id;
}
