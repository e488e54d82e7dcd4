import type { LastContacts } from './last-contacts.ts';
import type { PublicList } from './public-list.ts';
import type { SensorKeys } from './sensor-keys.ts';

/** What this room adds to the service. */
export interface SensorServices {
  readonly sensorKeys: SensorKeys;
  readonly publicSensors: PublicList;
  readonly lastContacts: LastContacts;
}
