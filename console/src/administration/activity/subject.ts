/** Where the console shows what an entry is about. */
export interface Subject {
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  /** Of which kind it is. */
  readonly kind:
    | 'event'
    | 'incident'
    | 'sensor'
    | 'location'
    | 'user'
    | 'webhook'
    | 'hold'
    | 'plate'
    | 'report';
}

/** By the name that a detail has in the log. */
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
  reportId: () => ({ to: '/reports/files', kind: 'report' }),
};

/** Where a detail leads to; undefined for one that is only a value. What was deleted leads nowhere. */
export function subjectOf(action: string, name: string, value: unknown): Subject | undefined {
  if (typeof value !== 'string' || value === '' || !Object.hasOwn(places, name)) return undefined;
  const [noun = '', verb] = action.split('.');
  const isDeleted = verb === 'delete' && name === `${noun.replace(/s$/, '')}Id`;
  return isDeleted ? undefined : places[name]?.(value);
}

/** The first of the details that leads somewhere. */
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
