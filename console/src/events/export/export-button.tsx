import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Filter } from '../../filters/filter.ts';
import { useHasFeature } from '../../service/features.ts';
import { loadCode } from '../../service/load-code.ts';
import { useMay } from '../../session/may.ts';
import { Button } from '../../ui/button.tsx';
import type { EventFilters } from '../search.ts';

const ExportDialog = lazy(() => loadCode(() => import('./export-dialog.tsx')));

interface ExportButtonProps {
  readonly input: EventFilters;
  readonly reason: string | undefined;
  readonly filters: readonly Filter[];
}

/** Opens the export of what the list shows, for those who may make reports and read them. */
export function ExportButton(props: ExportButtonProps) {
  const { t } = useTranslation('events');
  const [open, setOpen] = useState(false);
  const mayGenerate = useMay('generateReports');
  const mayRead = useMay('viewReports');
  const hasReports = useHasFeature('reports');
  if (!mayGenerate || !mayRead || !hasReports) return null;
  return (
    <>
      <Button icon="download" onClick={() => setOpen(true)}>
        {t('export.export')}
      </Button>
      {open && (
        <Suspense>
          <ExportDialog {...props} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
