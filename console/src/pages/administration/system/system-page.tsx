import { useTranslation } from 'react-i18next';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { FeaturesPanel } from './features-panel.tsx';
import { HealthPanel } from './health-panel.tsx';
import { LicencePanel } from './licence-panel.tsx';

/** The health, licence and features of the service. */
export function SystemPage() {
  const { t } = useTranslation('administration');
  return (
    <>
      <PageHeader title={t('system.title')} />
      <div className="min-h-0 grow overflow-y-auto px-4 py-3">
        <div className="grid gap-3 lg:grid-cols-2">
          <HealthPanel />
          <LicencePanel />
          <FeaturesPanel />
        </div>
      </div>
    </>
  );
}
