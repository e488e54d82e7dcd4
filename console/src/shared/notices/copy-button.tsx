import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { copyText } from './copy-text.ts';
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
