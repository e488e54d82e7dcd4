import { incidentStatuses, incidentTypes, severities, sortOrders } from '@gantry/contract/values';
import { moment, oneOf, type Parameter, someOf, text } from '../../shared/url/search.ts';

const on: Parameter<1> = (raw) => (raw === 1 || raw === true ? 1 : undefined);

function degrees(most: number): Parameter<number> {
  return (raw) => (typeof raw === 'number' && Math.abs(raw) <= most ? raw : undefined);
}

/** The query parameters of the incidents page. Filters and sort order have the same names as in `incidents.getAll`. */
export const incidentsSearch = {
  /** Absent: the board. */
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
  sortBy: oneOf(['openedAt', 'updatedAt', 'severity', 'status', 'priority']),
  sortOrder: oneOf(sortOrders),
  /** The incident at the cursor. */
  incident: text(),
  /**
   * Whether the form for a new incident is open. `type`, `severity`, `sensorId`, `locationId` and the parameters below
   * are then its initial values.
   */
  new: on,
  title: text(200),
  latitude: degrees(90),
  longitude: degrees(180),
  /** The event that is evidence for the new incident. */
  eventId: text(),
};
