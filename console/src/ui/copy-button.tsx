import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from './button.tsx';
import { copyText } from './copy-text.ts';

interface CopyButtonProps {
  /** What is copied, or how to get it. */
  readonly text: string | (() => Promise<string>);
  readonly label: string;
  readonly iconOnly?: boolean;
}

/** Copies a text, and says for a moment that it did. */
export function CopyButton({ text, label, iconOnly = false }: CopyButtonProps) {
  const { t } = useTranslation('common');
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(typeof text === 'string' ? text : await text());
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <Button
      icon={copied ? 'acknowledge' : 'copy'}
      iconOnly={iconOnly}
      aria-label={copied ? t('copied') : label}
      onClick={() => void copy()}
    >
      {copied ? t('copied') : label}
    </Button>
  );
}
