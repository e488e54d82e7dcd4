import { setTimeout as sleep } from 'node:timers/promises';
import type { GantryClient } from '@gantry/client';
import { roadsAsGeoJson } from '../roads.ts';
import { SimulationError } from '../simulation.ts';

const ATTRIBUTION = 'Roads: sketch of the demo';
const ASK_MS = 250;

/** Puts the roads of the places on the map, as an administrator does with a file, unless there are roads already. */
export async function ensureRoadMap(
  url: string,
  { api, token }: GantryClient,
  signal: AbortSignal,
): Promise<void> {
  const { current, staged } = await api.map.get.query();
  if (current || staged) return;
  const query = new URLSearchParams({ name: 'demo-roads.geojson', attribution: ATTRIBUTION });
  const sent = await fetch(`${url}/map/file?${query}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}` },
    body: roadsAsGeoJson(),
    signal,
  });
  if (!sent.ok) throw new SimulationError(`The service refused the roads of the demo: ${await sent.text()}`);
  const { id } = (await sent.json()) as { id: string };
  for (;;) {
    const { staged: read } = await api.map.get.query();
    if (read?.id !== id) return;
    if (read.state === 'REFUSED')
      throw new SimulationError(`The roads of the demo cannot be read: ${read.problem}`);
    if (read.state === 'READY') break;
    await sleep(ASK_MS, undefined, { signal });
  }
  await api.map.applyFile.mutate({ id });
}
