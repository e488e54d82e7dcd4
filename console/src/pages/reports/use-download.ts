import type { Report } from '@gantry/contract/reports';
import { useMutation } from '@tanstack/react-query';
import { useNotices } from '../../shared/notices/notices.tsx';
import { downloadFile } from '../../shared/service/files.ts';

/** Downloads the file of a report, if it has one. */
export function useDownload() {
  const { sayFailure } = useNotices();
  return useMutation({
    mutationFn: async ({ url, fileName }: Pick<Report, 'url' | 'fileName'>) => {
      if (url !== null) await downloadFile(url, fileName ?? 'report');
    },
    onError: sayFailure,
  });
}
