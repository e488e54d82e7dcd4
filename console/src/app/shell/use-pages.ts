import { mayDo } from '@gantry/contract/permissions';
import { useFeatures } from '../../shared/service/features.ts';
import { useFactorMissing } from '../../shared/session/factor-missing.ts';
import { useUser } from '../../shared/session/session.ts';
import { type Page, pages } from './pages.ts';

/**
 * The pages that the user's role may see and whose features are switched on; none until the user has set up a required
 * second factor.
 */
export function usePagesOfUser(): readonly Page[] {
  const { role } = useUser();
  const features = useFeatures();
  if (useFactorMissing()) return [];
  return pages.filter(
    ({ permission, feature }) =>
      (!permission || mayDo(role, permission)) && (!feature || features?.[feature] !== false),
  );
}
