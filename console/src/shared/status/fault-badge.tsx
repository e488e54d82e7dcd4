import type { FaultState } from '@gantry/contract/fault-states';
import { useTranslation } from 'react-i18next';
import { Badge, type Look } from '../../ui/badge.tsx';

/** The appearance of each state of a fault. One that nobody works on stands out. */
const faultLooks: Readonly<Record<FaultState, Look>> = {
  FOUND: { tone: 'high', icon: 'alert' },
  WAITING: { tone: 'medium', icon: 'time' },
  IN_REPAIR: { tone: 'low', icon: 'maintenance' },
  REPAIRED: { tone: 'calm', icon: 'good' },
};

/** The state of a fault. The page loads the texts `sensors`. */
export function FaultBadge({ state }: { readonly state: FaultState }) {
  const { t } = useTranslation('sensors', { keyPrefix: 'faults' });
  return <Badge {...faultLooks[state]}>{t(`states.${state}`)}</Badge>;
}
