import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { useNotices } from './notices.tsx';

interface CopyButtonProps {
  /** The text to copy, or a function that loads it. */
  readonly text: string | (() => Promise<string>);
  readonly label: string;
  readonly iconOnly?: boolean;
}

/** Copies a text. It shows a confirmation for 1.5 s, or the error in a notice. */
export function CopyButton({ text, label, iconOnly = false }: CopyButtonProps) {
  const { t } = useTranslation('common');
  const [copied, setCopied] = useState(false);
  const { sayFailure } = useNotices();
  const copy = useMutation({
    mutationFn: async () => copyText(typeof text === 'string' ? text : await text()),
    onSuccess: () => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1_500);
    },
    onError: sayFailure,
  });
  return (
    <Button
      icon={copied ? 'acknowledge' : 'copy'}
      iconOnly={iconOnly}
      aria-label={copied ? t('copied') : label}
      onClick={() => copy.mutate()}
    >
      {copied ? t('copied') : label}
    </Button>
  );
}

/**
 * Copies a text to the clipboard. Browsers provide the clipboard API only to pages loaded over HTTPS or from localhost;
 * elsewhere a selected text area is copied with `execCommand`.
 * @throws Error if the browser refuses to copy
 */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement('textarea');
  area.value = text;
  area.readOnly = true;
  area.setAttribute('aria-hidden', 'true');
  area.style.position = 'fixed';
  area.style.opacity = '0';
  // The text area must be inside an open dialog, because the dialog traps the focus.
  const focused = document.activeElement;
  (focused?.closest('[role="dialog"]') ?? document.body).append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  if (!done) throw new Error('The browser does not let this page copy');
}

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
