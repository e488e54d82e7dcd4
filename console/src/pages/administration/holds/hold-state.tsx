import type { LegalHold } from '@gantry/contract/storage';
import { useTranslation } from 'react-i18next';
import { Badge } from '../../../ui/badge.tsx';

/** A badge that shows whether a hold is active or released. */
export function HoldState({ hold }: { readonly hold: Pick<LegalHold, 'releasedAt'> }) {
  const { t } = useTranslation('administration');
  return hold.releasedAt ? (
    <Badge tone="calm" icon="none">
      {t('holds.released')}
    </Badge>
  ) : (
    <Badge tone="low" icon="hold">
      {t('holds.active')}
    </Badge>
  );
}
