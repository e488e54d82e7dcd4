import { useTranslation } from 'react-i18next';
import { CopyButton } from '../../shared/notices/copy-button.tsx';
import { saveFile } from '../../shared/service/files.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';

interface RecoveryCodesProps {
  readonly title: string;
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

/** The recovery codes, which cannot be shown again. Only the button closes the dialog, so that no accident does. */
export function RecoveryCodes({ title, codes, onClose }: RecoveryCodesProps) {
  const { t } = useTranslation('account');
  const text = codes.join('\n');
  return (
    <Dialog title={title} open>
      <div className="flex flex-col gap-3 rounded-md border border-medium bg-medium-surface p-3">
        <p>{t('factor.codesOnce')}</p>
        <ol
          aria-label={t('factor.recovery')}
          dir="ltr"
          className="grid gap-x-4 gap-y-1 font-mono sm:grid-cols-2"
        >
          {codes.map((code) => (
            <li key={code} className="select-all">
              {code}
            </li>
          ))}
        </ol>
        <div className="flex flex-wrap gap-2">
          <CopyButton text={text} label={t('copy')} />
          <Button
            icon="download"
            onClick={() =>
              saveFile(new Blob([`${text}\n`], { type: 'text/plain' }), 'gantry-recovery-codes.txt')
            }
          >
            {t('factor.download')}
          </Button>
          <Button
            icon="file"
            onClick={() => printText(t('factor.printTitle', { host: location.host }), text)}
          >
            {t('factor.print')}
          </Button>
        </div>
      </div>
      <p className="text-muted">{t('factor.codesText')}</p>
      <Button kind="primary" onClick={onClose}>
        {t('factor.stored')}
      </Button>
    </Dialog>
  );
}

/** Prints a title and a text from a hidden frame, without the rest of the page. */
function printText(title: string, text: string): void {
  const frame = document.createElement('iframe');
  frame.hidden = true;
  document.body.append(frame);
  const { contentDocument: paper, contentWindow: view } = frame;
  if (!paper || !view) return;
  const heading = paper.createElement('h1');
  heading.textContent = title;
  const content = paper.createElement('pre');
  content.textContent = text;
  paper.body.append(heading, content);
  view.onafterprint = () => frame.remove();
  view.print();
}
