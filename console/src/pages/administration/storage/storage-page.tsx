import { useTranslation } from 'react-i18next';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { RulesPanel } from './rules-panel.tsx';
import { RunsPanel } from './runs-panel.tsx';
import { StatsPanel } from './stats-panel.tsx';

/** The storage page: what is stored, the retention rules, and the retention runs. */
export function StoragePage() {
  const { t } = useTranslation('administration');
  return (
    <>
      <PageHeader title={t('storage.title')} />
      <div className="min-h-0 grow overflow-y-auto px-4 py-3">
        <div className="grid items-start gap-3 xl:grid-cols-2">
          <StatsPanel />
          <RulesPanel />
          <RunsPanel />
        </div>
      </div>
    </>
  );
}
