import { keptInput } from '../form/kept.ts';
import { forgetLookUps } from '../service/plates.tsx';
import { api } from '../service/service.ts';
import { currentSession, keepSession } from '../session/session.ts';
import { keptCards, removeEntriesOf } from './stored.ts';

/**
 * Signs out at the service, and in this browser even if the service cannot be reached.
 * @param keepsEntries whether what waits to be sent goes on waiting until the user signs in again
 */
export async function signOut({ keepsEntries = false } = {}): Promise<void> {
  const userId = currentSession()?.user.id;
  await api.auth.logout.mutate().catch(() => undefined);
  keepSession(null);
  forgetLookUps();
  keptCards.set(null);
  if (userId === undefined) return;
  await keptInput.removeAllOf(userId);
  if (!keepsEntries) await removeEntriesOf(userId);
}
