import { useTranslation } from 'react-i18next';
import { CopyButton } from './copy-button.tsx';

/** A secret that the service returns only once, with a button to copy it. */
export function OnceSecret({ secret, label }: { readonly secret: string; readonly label: string }) {
  const { t } = useTranslation('common');
  return (
    <div className="flex flex-col gap-2 rounded-md border border-medium bg-medium-surface p-3">
      <p className="text-sm">
        {label}: {t('once.text')}
      </p>
      <div className="flex items-center gap-2">
        <code dir="ltr" className="min-w-0 grow font-mono break-all select-all">
          {secret}
        </code>
        <CopyButton text={secret} label={t('once.copy')} />
      </div>
    </div>
  );
}
