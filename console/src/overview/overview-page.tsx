import { useTranslation } from 'react-i18next';
import { PageHeader } from '../shell/page-header.tsx';

/** What the control room looks at first. */
export function OverviewPage() {
  const { t } = useTranslation('overview');
  return <PageHeader title={t('title')} />;
}
