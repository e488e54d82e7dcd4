import { type IncidentType, incidentType } from '@gantry/contract/incidents';

/** The fields of an event that determine the type of its incident. */
interface Report {
  readonly violationType: string | null;
  readonly metadataJson: string | null;
}

const names: Record<IncidentType, string> = {
  COLLISION: 'Collision',
  BREAKDOWN: 'Breakdown',
  OBSTRUCTION: 'Obstruction',
  ROADWORKS: 'Roadworks',
  WEATHER: 'Weather',
  CONGESTION: 'Congestion',
  WRONG_WAY_DRIVER: 'Wrong-way driver',
  OTHER: 'Incident',
};

/** Names of types as devices report them, in capitals: those of the API and other common ones. */
const typesByName: ReadonlyMap<string, IncidentType> = new Map([
  ...incidentType.options.map((type) => [type, type] as const),
  ['WRONG_WAY', 'WRONG_WAY_DRIVER'],
]);

/** The type of incident for an event: by its violation type, otherwise by `metadata.incidentType`, otherwise OTHER. */
export function incidentTypeOf(report: Report): IncidentType {
  return typeNamed(report.violationType) ?? typeNamed(metadataOf(report).incidentType) ?? 'OTHER';
}

/** The longest title that the contract allows, in characters. */
const TITLE_MAX = 200;

/** The title of an incident that an event opens: "Collision at Main Street / 5th Avenue". */
export function titleOf(type: IncidentType, place: string): string {
  return [...`${names[type]} at ${place}`].slice(0, TITLE_MAX).join('');
}

function typeNamed(name: unknown): IncidentType | undefined {
  return typeof name === 'string' ? typesByName.get(name.trim().toUpperCase()) : undefined;
}

function metadataOf({ metadataJson }: Report): { incidentType?: unknown } {
  return metadataJson === null ? {} : JSON.parse(metadataJson);
}
