import { incidentStatuses, incidentTypes, severities, sortOrders } from '@gantry/contract/values';
import { moment, oneOf, type Parameter, someOf, text } from '../address/search.ts';

const on: Parameter<1> = (raw) => (raw === 1 || raw === true ? 1 : undefined);

function degrees(most: number): Parameter<number> {
  return (raw) => (typeof raw === 'number' && Math.abs(raw) <= most ? raw : undefined);
}

/** What the address of the incidents page may say. The names are those of `incidents.getAll`. */
export const incidentsSearch = {
  /** The board unless it says `list`. */
  view: oneOf(['list']),
  status: someOf(incidentStatuses),
  type: oneOf(incidentTypes),
  severity: oneOf(severities),
  sensorId: text(),
  locationId: text(),
  /** The id of a user, `me` or `nobody`. */
  assignedTo: text(),
  search: text(200),
  startDate: moment,
  endDate: moment,
  sortBy: oneOf(['openedAt', 'updatedAt', 'severity', 'status']),
  sortOrder: oneOf(sortOrders),
  /** The incident that the cursor is on. */
  incident: text(),
  /**
   * The form for a new incident is open. `type`, `severity`, `sensorId` and `locationId` are then what it begins with, and
   * so are the following.
   */
  new: on,
  title: text(200),
  latitude: degrees(90),
  longitude: degrees(180),
  /** The event that is evidence for it. */
  eventId: text(),
};
