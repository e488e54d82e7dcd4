import { createGantryClient, GantryError } from '@gantry/client';
import { ingestInput } from '@gantry/contract/events';

// Compiled and run in an empty project, with the packages as users install them.

declare const process: { readonly argv: readonly string[]; exitCode?: number };
declare const console: { log(text: string): void };

const [, , url = '', email = '', password = ''] = process.argv;
const client = createGantryClient(url);
const user = await client.login(email, password);
const role: 'ADMIN' | 'OPERATOR' | 'VIEWER' | string = user.role;

const { apiKey } = await client.api.sensors.create.mutate({
  name: 'Main St north',
  deviceId: `cam-${Math.random()}`,
  type: 'CAMERA',
});
const event = ingestInput.parse({ apiKey, eventType: 'VEHICLE_DETECTION', licensePlateNumber: 'W 1234' });
const { eventId } = await client.api.events.ingest.mutate(event);
const stored = await client.api.events.getById.query({ id: eventId });
const at: Date = stored.timestamp;
// @ts-expect-error: the answers have types, so a wrong name does not compile.
const wrong: unknown = stored.noSuchField;

const refused = await client.api.sensors.getById
  .query({ id: 'no such sensor' })
  .catch((error: unknown) => error);
if (!(refused instanceof GantryError) || refused.code !== 'NOT_FOUND') throw new Error('It was not refused');
await client.logout();
console.log(`story passed: ${role} ${at instanceof Date} ${wrong === undefined}`);
