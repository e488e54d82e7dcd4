import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** The page of the console that shows the subject of an entry. */
interface Subject {
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  /** The key of its display name (`subjects.*`). */
  readonly kind:
    | 'event'
    | 'incident'
    | 'sensor'
    | 'location'
    | 'user'
    | 'webhook'
    | 'hold'
    | 'plate'
    | 'report'
    | 'works';
}

/** Keyed by the name of the detail in the log. */
const places: Readonly<Record<string, (id: string) => Subject>> = {
  eventId: (id) => ({ to: '/events', search: { event: id }, kind: 'event' }),
  incidentId: (id) => ({ to: `/incidents/${encodeURIComponent(id)}`, kind: 'incident' }),
  sensorId: (id) => ({ to: `/sensors/${encodeURIComponent(id)}`, kind: 'sensor' }),
  locationId: (id) => ({ to: `/locations/${encodeURIComponent(id)}`, kind: 'location' }),
  userId: (id) => ({ to: '/administration/users', search: { user: id }, kind: 'user' }),
  assignedTo: (id) => ({ to: '/administration/users', search: { user: id }, kind: 'user' }),
  webhookId: (id) => ({ to: `/administration/webhooks/${encodeURIComponent(id)}`, kind: 'webhook' }),
  holdId: (id) => ({ to: '/administration/holds', search: { hold: id }, kind: 'hold' }),
  plate: (plate) => ({ to: '/events', search: { licensePlateNumber: plate }, kind: 'plate' }),
  worksId: (id) => ({ to: `/works/${encodeURIComponent(id)}`, kind: 'works' }),
  reportId: () => ({ to: '/reports/files', kind: 'report' }),
};

/** The subject that a detail links to; undefined for a plain value, or if the entry is the deletion of that subject. */
export function subjectOf(action: string, name: string, value: unknown): Subject | undefined {
  if (typeof value !== 'string' || value === '' || !Object.hasOwn(places, name)) return undefined;
  const [noun = '', verb] = action.split('.');
  const isDeleted = verb === 'delete' && name === `${noun.replace(/s$/, '')}Id`;
  return isDeleted ? undefined : places[name]?.(value);
}

/** The subject of the first detail that links to one. */
export function mainSubjectOf(
  action: string,
  details: Readonly<Record<string, unknown>> | null,
): Subject | undefined {
  for (const [name, value] of Object.entries(details ?? {})) {
    const subject = subjectOf(action, name, value);
    if (subject) return subject;
  }
  return undefined;
}

/** The detail of an entry that best identifies its subject. */
export function briefOf(details: Readonly<Record<string, unknown>> | null): string | undefined {
  const named = ['name', 'email', 'plate', 'procedure', 'url', 'reason', 'title', 'note', 'fileName'];
  const found = named.map((name) => details?.[name]).find((value) => typeof value === 'string');
  return found as string | undefined;
}

/** A link to the subject of an entry. */
export function SubjectLink({
  subject,
  children,
}: {
  readonly subject: Subject;
  readonly children: ReactNode;
}) {
  return (
    <Link to={subject.to} search={(subject.search ?? {}) as never} className="text-accent underline">
      {children}
    </Link>
  );
}
