import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Filter } from '../../../shared/filters/filter.ts';
import { useHasFeature } from '../../../shared/service/features.ts';
import { useMay } from '../../../shared/session/session.ts';
import { Button } from '../../../ui/button.tsx';
import { later } from '../../../ui/load-code.ts';
import type { EventFilters } from '../search.ts';

const useExportDialog = later(async () => (await import('./export-dialog.tsx')).ExportDialog);

interface ExportButtonProps {
  readonly input: EventFilters;
  readonly reason: string | undefined;
  readonly filters: readonly Filter[];
}

/** Opens the export dialog for the list. Shown to users who may generate and view reports. */
export function ExportButton(props: ExportButtonProps) {
  const { t } = useTranslation('events');
  const [open, setOpen] = useState(false);
  const ExportDialog = useExportDialog(open);
  const mayGenerate = useMay('generateReports');
  const mayRead = useMay('viewReports');
  const hasReports = useHasFeature('reports');
  if (!mayGenerate || !mayRead || !hasReports) return null;
  return (
    <>
      <Button icon="download" onClick={() => setOpen(true)}>
        {t('export.export')}
      </Button>
      {open && ExportDialog && <ExportDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}
