import {
  type AgencyTime,
  agencyTimes,
  type IncidentTime,
  incidentTimes,
  type LaneState,
} from '@gantry/contract/incident-states';
import type { IncidentTimelineEntry } from '@gantry/contract/incidents';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { imagesIn, NoteImages } from '../../shared/photos/note-images.tsx';
import { service } from '../../shared/service/service.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Icon, type IconName } from '../../ui/icon.tsx';

/** Groups entries that are shown as one: consecutive events attached by the service that say nothing else. */
function grouped(entries: readonly IncidentTimelineEntry[]): readonly (readonly IncidentTimelineEntry[])[] {
  const groups: IncidentTimelineEntry[][] = [];
  for (const entry of entries) {
    const group = groups.at(-1);
    if (group?.[0] && isAttached(entry) && isAttached(group[0])) group.push(entry);
    else groups.push([entry]);
  }
  return groups;
}

function isAttached({ action, by, details }: IncidentTimelineEntry): boolean {
  return action === 'attachEvent' && by === null && details?.reportedSeverity === undefined;
}

/** The timeline of an incident, the latest entry first. */
export function Timeline({ entries }: { readonly entries: readonly IncidentTimelineEntry[] }) {
  return (
    <ol className="flex flex-col gap-3">
      {grouped(entries)
        .toReversed()
        .map((group) => {
          const [first] = group;
          if (!first) return null;
          const key = `${first.at.getTime()} ${first.action}`;
          return group.length === 1 ? (
            <TimelineItem key={key} entry={first} />
          ) : (
            <AttachedTogether key={key} entries={group} />
          );
        })}
    </ol>
  );
}

function AttachedTogether({ entries }: { readonly entries: readonly IncidentTimelineEntry[] }) {
  const { t } = useTranslation('incidents');
  const [first, last] = [entries[0], entries.at(-1)];
  return (
    <li className="flex gap-3">
      <Icon name="link" className="mt-0.5 text-muted" />
      <p className="flex min-w-0 grow flex-wrap items-baseline gap-x-2">
        <span className="font-medium">{t('attachedTogether', { count: entries.length })}</span>
        <span className="text-muted">{t('byService')}</span>
        <span className="ms-auto text-sm text-muted" dir="ltr">
          {first && <Moment at={first.at} />} – {last && <Moment at={last.at} as="time" />}
        </span>
      </p>
    </li>
  );
}

const icons: Readonly<Record<IncidentTimelineEntry['action'], IconName>> = {
  create: 'incident',
  acknowledge: 'acknowledge',
  start: 'maintenance',
  resolve: 'good',
  close: 'none',
  reopen: 'undo',
  assign: 'users',
  update: 'edit',
  attachEvent: 'link',
  addNote: 'file',
  verify: 'good',
  rejectFalse: 'none',
  setTimes: 'time',
  setLanes: 'traffic',
  setFacts: 'edit',
  addAgency: 'send',
  updateAgency: 'time',
  removeAgency: 'delete',
  setPlan: 'list',
  completeStep: 'acknowledge',
  skipStep: 'none',
  reopenStep: 'undo',
  makeReport: 'file',
  takeOver: 'link',
  merge: 'link',
};

/** One entry of the timeline: action, user, time, note, images and changes. */
export function TimelineItem({ entry }: { readonly entry: IncidentTimelineEntry }) {
  const { t } = useTranslation('incidents');
  const { action, at, by, note, audience, details } = entry;
  const images = imagesIn(details);
  return (
    <li className="flex gap-3">
      <Icon name={icons[action]} className="mt-0.5 text-muted" />
      <div className="min-w-0 grow">
        <p className="flex flex-wrap items-baseline gap-x-2">
          <span className="font-medium">{t(`done.${action}`)}</span>
          <bdi className="text-muted">{by?.name ?? t('byService')}</bdi>
          {audience !== undefined && audience !== 'INTERNAL' && (
            <span className="text-sm text-muted">{t(`report.audiences.${audience}`)}</span>
          )}
          <span className="ms-auto text-sm text-muted">
            <Moment at={at} />
          </span>
        </p>
        {note !== null && (
          <p className="mt-0.5 whitespace-pre-wrap">
            <span className="block border-s-2 ps-2">
              <bdi>{note}</bdi>
            </span>
          </p>
        )}
        {typeof details?.writtenAt === 'string' && (
          <p className="flex items-center gap-1 text-sm text-muted">
            <Icon name="time" size={14} /> {t('note.late')} <Moment at={new Date(details.writtenAt)} />
          </p>
        )}
        {images.length > 0 && <NoteImages images={images} by={by?.name ?? t('byService')} />}
        <ChangeList action={action} details={details} />
      </div>
    </li>
  );
}

type Entry = Pick<IncidentTimelineEntry, 'action' | 'details'>;

/** Why the service resolved an incident by itself. */
const reasons = ['ended', 'cancelled', 'worksOver'] as const;

/** The changes of a timeline entry: the old and new values of fields, why it is over, and the attached events. */
function ChangeList({ action, details }: Entry) {
  const { t } = useTranslation('incidents');
  if (details === null) return null;
  const changes = Object.entries(details).filter(
    (change): change is [FieldName, Change] => isField(change[0]) && isChange(change[1]),
  );
  const events = eventsOf(details);
  const reason = reasons.find((each) => each === details.reason);
  const lanes = lanesOf(details);
  const unit = unitOf(details);
  const merged = mergedOf(details);
  const step = stepOf(details);
  if (
    [changes, events].every(({ length }) => length === 0) &&
    !reason &&
    !lanes &&
    !unit &&
    !merged &&
    step === null
  )
    return null;
  return (
    <ul className="text-sm">
      {reason && <li>{t(`over.${reason}`)}</li>}
      {lanes && <LanesItem {...lanes} />}
      {unit && <UnitItem {...unit} />}
      {merged && <MergedItem {...merged} />}
      {step && (
        <li>
          <bdi>{step}</bdi>
        </li>
      )}
      {changes.map(([name, { from, to }]) => (
        <li key={name} className="flex flex-wrap gap-x-2">
          <span className="text-muted">{isTime(name) ? t(`times.names.${name}`) : t(`fields.${name}`)}</span>
          {action !== 'create' && (
            <>
              <Value name={name} value={from} />
              <span aria-hidden="true" className="text-muted rtl:-scale-x-100">
                →
              </span>
              <span className="sr-only">{t('changedTo')}</span>
            </>
          )}
          <Value name={name} value={to} />
        </li>
      ))}
      {events.map((id) => (
        <li key={id}>
          <Link to="/events" search={{ event: id }} className="text-accent underline">
            {t('event')} <bdi className="font-mono text-xs">{id.slice(-8)}</bdi>
          </Link>
        </li>
      ))}
    </ul>
  );
}

const fieldNames = [
  'title',
  'description',
  'type',
  'severity',
  'reportedSeverity',
  'location',
  'locationId',
  'sensorId',
  'lanesBlocked',
  'assignedTo',
  'injured',
  'hazardous',
  'heavyVehicle',
  'responderStruck',
  'secondaryOf',
  'plan',
  ...incidentTimes,
] as const;
type FieldName = (typeof fieldNames)[number];

function isTime(name: FieldName): name is IncidentTime {
  return (incidentTimes as readonly string[]).includes(name);
}

interface LanesChange {
  readonly direction: string;
  readonly lanes: readonly LaneState[];
  readonly shoulder: LaneState | null;
}

/** How the lanes of a carriageway are after an entry; null if it says nothing of lanes. */
function lanesOf({ lanes }: Record<string, unknown>): LanesChange | null {
  if (typeof lanes !== 'object' || lanes === null || !('direction' in lanes)) return null;
  const { direction, to } = lanes as { direction: string; to: Pick<LanesChange, 'lanes' | 'shoulder'> };
  return { direction, lanes: to.lanes, shoulder: to.shoulder };
}

function LanesItem({ direction, lanes, shoulder }: LanesChange) {
  const { t } = useTranslation('incidents');
  const states = lanes.map((state, at) => `${t('lanes.lane', { n: at + 1 })}: ${t(`lanes.states.${state}`)}`);
  if (shoulder) states.push(`${t('lanes.shoulder')}: ${t(`lanes.states.${shoulder}`)}`);
  return (
    <li className="flex flex-wrap gap-x-2">
      <span className="text-muted">{direction === 'BOTH' ? t('lanes.both') : direction}</span>
      {states.map((state) => (
        <span key={state}>{state}</span>
      ))}
    </li>
  );
}

/** The text of the step that an entry is about; null if it is about none. */
function stepOf({ step }: Record<string, unknown>): string | null {
  return typeof step === 'object' && step !== null && 'text' in step ? String(step.text) : null;
}

interface Merged {
  readonly id: string;
  readonly title: string;
  readonly events: number;
  readonly notes: number;
  readonly images: number;
  readonly agencies: number;
}

/** The other incident of a merge, and what was moved; null if an entry is about none. */
function mergedOf({ merged, mergedInto }: Record<string, unknown>): Merged | null {
  const other = merged ?? mergedInto;
  return typeof other === 'object' && other !== null ? (other as Merged) : null;
}

function MergedItem({ id, title, ...moved }: Merged) {
  const { t } = useTranslation('incidents');
  return (
    <li>
      <Link to="/incidents/$incidentId" params={{ incidentId: id }} className="text-accent underline">
        <bdi>{title}</bdi>
      </Link>{' '}
      <span className="text-muted">{t('merge.moved', { ...moved })}</span>
    </li>
  );
}

interface UnitChange {
  readonly name: string;
  readonly unit: string | null;
  /** The times that were set. */
  readonly times: readonly (readonly [AgencyTime, string])[];
}

/** The unit of an agency that an entry is about; null if it is about none. */
function unitOf({ agency }: Record<string, unknown>): UnitChange | null {
  if (typeof agency !== 'object' || agency === null) return null;
  const { name, unit, ...changes } = agency as Record<string, unknown>;
  const times = agencyTimes.flatMap((time) => {
    const change = changes[time];
    return isChange(change) && typeof change.to === 'string' ? [[time, change.to] as const] : [];
  });
  return { name: String(name), unit: typeof unit === 'string' ? unit : null, times };
}

function UnitItem({ name, unit, times }: UnitChange) {
  const { t } = useTranslation('incidents');
  return (
    <li className="flex flex-wrap gap-x-2">
      <bdi>{unit === null ? name : `${name} · ${unit}`}</bdi>
      {times.map(([time, at]) => (
        <span key={time}>
          <span className="text-muted">{t(`agencies.times.${time}`)}</span>{' '}
          <Moment at={new Date(at)} as="time" />
        </span>
      ))}
    </li>
  );
}

interface Change {
  readonly from?: unknown;
  readonly to?: unknown;
}

function isField(name: string): name is FieldName {
  return (fieldNames as readonly string[]).includes(name);
}

function isChange(value: unknown): value is Change {
  return typeof value === 'object' && value !== null && ('from' in value || 'to' in value);
}

/** Maximum number of events shown per entry; the list of attached events has more. */
const MAX_EVENTS = 5;

function eventsOf({ eventId, eventIds }: Record<string, unknown>): readonly string[] {
  const ids = Array.isArray(eventIds) ? eventIds : [eventId];
  return ids.filter((id) => typeof id === 'string').slice(0, MAX_EVENTS);
}

function Value({ name, value }: { readonly name: FieldName; readonly value: unknown }) {
  const { t } = useTranslation(['incidents', 'common']);
  if (value === null || value === undefined || value === '') return <span>{t('none')}</span>;
  if (name === 'type') return <span>{t(`common:incidentTypes.${value as 'OTHER'}`)}</span>;
  if (name === 'severity' || name === 'reportedSeverity')
    return <span>{t(`common:severity.${value as 'LOW'}`)}</span>;
  if (isTime(name)) return <Moment at={new Date(String(value))} />;
  if (typeof value === 'boolean') return <span>{t(value ? 'facts.yes' : 'facts.no')}</span>;
  if (name === 'injured') return <span>{t(`facts.injuries.${value as 'NONE'}`)}</span>;
  if (name === 'secondaryOf') return <IncidentName id={String(value)} />;
  if (typeof value === 'object') {
    const { latitude, longitude } = value as { latitude?: number; longitude?: number };
    return <bdi className="figures">{`${latitude}, ${longitude}`}</bdi>;
  }
  return <bdi className="line-clamp-3">{String(value)}</bdi>;
}

/** A link to another incident, by its title. */
function IncidentName({ id }: { readonly id: string }) {
  const { data } = useQuery({ ...service.incidents.getById.queryOptions({ id }), retry: false });
  return (
    <Link to="/incidents/$incidentId" params={{ incidentId: id }} className="text-accent underline">
      <bdi>{data?.title ?? id.slice(-8)}</bdi>
    </Link>
  );
}
