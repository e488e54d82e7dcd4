import { type IncidentType, incidentType } from '@gantry/contract/incidents';

/** What an event says that bears on what kind of incident it is. */
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

/** How devices name a type, in capitals: as we do, and otherwise. */
const typesByName: ReadonlyMap<string, IncidentType> = new Map([
  ...incidentType.options.map((type) => [type, type] as const),
  ['WRONG_WAY', 'WRONG_WAY_DRIVER'],
]);

/** The type of incident that an event tells of: by its violation type, else by `metadata.incidentType`, else OTHER. */
export function incidentTypeOf(report: Report): IncidentType {
  return typeNamed(report.violationType) ?? typeNamed(metadataOf(report).incidentType) ?? 'OTHER';
}

/** The longest title that the contract allows, in characters. */
const TITLE_MAX = 200;

/** What an incident is called that an event opens: "Collision at Main Street / 5th Avenue". */
export function titleOf(type: IncidentType, place: string): string {
  return [...`${names[type]} at ${place}`].slice(0, TITLE_MAX).join('');
}

function typeNamed(name: unknown): IncidentType | undefined {
  return typeof name === 'string' ? typesByName.get(name.trim().toUpperCase()) : undefined;
}

function metadataOf({ metadataJson }: Report): { incidentType?: unknown } {
  return metadataJson === null ? {} : JSON.parse(metadataJson);
}
