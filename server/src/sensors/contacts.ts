import type { Pool } from 'pg';
import type { Core } from '../platform/context.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import type { Outbox } from '../realtime/publish.ts';
import { touchSensors } from './contacts-store.ts';
import type { Contacts } from './last-contacts.ts';
import type { PublicList } from './public-list.ts';
import { publishStatus } from './publish-status.ts';
import { EVENT_REASON, recordEventsOf } from './status-store.ts';

export interface ContactParts extends Pick<Core, 'devices'> {
  readonly pool: Pool;
  readonly outbox: Outbox;
  readonly publicSensors: PublicList;
  readonly timeoutSeconds: number;
}

/** Writes the times of the last contacts, and changes the status of sensors whose events are signs of life. */
export async function writeContacts(parts: ContactParts, contacts: Contacts): Promise<void> {
  const awakened = await touchSensors(parts.pool, contacts, parts.timeoutSeconds);
  if (awakened.length === 0) return;
  await inTransaction(parts.devices, async (tx) => {
    const outcomes = await recordEventsOf(tx, awakened);
    await publishStatus(parts, tx, outcomes, EVENT_REASON);
  });
  parts.publicSensors.forget();
}
