/** The path of the page of an incident. */
export function incidentPath(id: string): string {
  return `/incidents/${encodeURIComponent(id)}`;
}
