import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Filter } from '../../filters/filter.ts';
import { service } from '../../service/service.ts';
import { useMay } from '../../session/may.ts';
import { Button } from '../../ui/button.tsx';
import { later } from '../../ui/later.ts';
import type { EventFilters } from '../search.ts';

const useExportDialog = later(async () => (await import('./export-dialog.tsx')).ExportDialog);

interface ExportButtonProps {
  readonly input: EventFilters;
  readonly reason: string | undefined;
  readonly filters: readonly Filter[];
}

/** Opens the export of what the list shows, for those who may make reports and read them. */
export function ExportButton(props: ExportButtonProps) {
  const { t } = useTranslation('events');
  const [open, setOpen] = useState(false);
  const ExportDialog = useExportDialog(open);
  const mayGenerate = useMay('generateReports');
  const mayRead = useMay('viewReports');
  const { data } = useQuery({ ...service.system.getSettings.queryOptions(), staleTime: 300_000 });
  if (!mayGenerate || !mayRead || data?.features.reports === false) return null;
  return (
    <>
      <Button icon="download" onClick={() => setOpen(true)}>
        {t('export.export')}
      </Button>
      {open && ExportDialog && <ExportDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}
