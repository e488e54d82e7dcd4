import { Dialog as Base } from '@base-ui/react/dialog';
import { type ReactNode, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from './button.tsx';
import { classes } from './classes.ts';

export interface DialogProps {
  readonly title: string;
  readonly open: boolean;
  /** If absent, the user cannot close the dialog. */
  readonly onClose?: () => void;
  readonly children: ReactNode;
  /** The maximum width; `full` fills the window. */
  readonly width?: 'narrow' | 'wide' | 'full';
}

const FIELD = 'form :is(input:not([type="hidden"], [type="file"], [type="radio"]), select, textarea):enabled';

const widths = { narrow: 'max-w-md', wide: 'max-w-3xl', full: 'max-w-none h-full' } as const;

/**
 * The first field of a form, so that its user can type at once; null if another one has the focus already, or on a touch
 * screen, where the keyboard would cover the form.
 */
function firstField(popup: HTMLElement | null): HTMLElement | null {
  if (popup?.contains(document.activeElement) || matchMedia('(pointer: coarse)').matches) return null;
  return popup?.querySelector<HTMLElement>(FIELD) ?? null;
}

/** The implementation of `Dialog`, in a module that is loaded later. */
export function DialogFrame({ title, open, onClose, children, width = 'narrow' }: DialogProps) {
  const { t } = useTranslation('common');
  const popup = useRef<HTMLDivElement>(null);
  /** A press outside a dialog with a form is ignored: it is probably accidental and would lose the input. */
  const isAccident = (reason: string) =>
    reason === 'outside-press' && popup.current?.querySelector('form') != null;
  return (
    <Base.Root
      open={open}
      onOpenChange={(next, { reason }) => !next && !isAccident(reason) && onClose?.()}
      disablePointerDismissal={!onClose}
    >
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/60" />
        <Base.Viewport className="fixed inset-0 z-50 grid place-items-center overflow-y-auto p-3">
          <Base.Popup
            ref={popup}
            initialFocus={() => firstField(popup.current) ?? true}
            className={classes(
              'flex max-h-full w-full flex-col gap-3 overflow-y-auto rounded-md border bg-raised p-4 shadow-xl',
              widths[width],
            )}
          >
            <header className="flex items-start justify-between gap-3">
              <Base.Title className="text-lg font-semibold">{title}</Base.Title>
              {onClose && (
                <Base.Close
                  render={<Button kind="quiet" icon="close" iconOnly aria-label={t('dialog.close')} />}
                />
              )}
            </header>
            {children}
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}
