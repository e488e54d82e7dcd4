import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Key } from '../../ui/shortcut-sheet.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { sentenceOf } from '../service/failure.tsx';
import { useSession } from '../session/session.ts';

/** How long a notice is shown, and with it the offer to undo the action, in milliseconds. */
export const UNDO_MS = 8_000;

interface Notice {
  readonly id: number;
  readonly text: string;
  readonly isFailure: boolean;
  readonly undo: (() => Promise<void>) | null;
  /** Repeats the action that failed. */
  readonly retry: (() => void) | null;
}

interface Notices {
  /** Shows a notice with an undo button for `UNDO_MS`. */
  offerUndo(text: string, undo: () => Promise<void>): void;
  /** Shows a notice for `UNDO_MS`. */
  say(text: string): void;
  /** Shows why something failed, until the user closes the notice. */
  sayFailure(error: unknown): void;
  /**
   * As `sayFailure`, for something that is out of view.
   * @param what names the action and its object
   * @param retry repeats the action; null if that makes no sense
   */
  sayFailureOf(what: string, error: unknown, retry: (() => void) | null): void;
}

const Context = createContext<Notices | null>(null);

/** Maximum number of notices that are shown at a time. */
const MAX_NOTICES = 4;

/** Adds a notice. If there are too many, the oldest that is not a failure is dropped, or the oldest of all. */
function withNotice(all: readonly Notice[], added: Notice): readonly Notice[] {
  if (all.length < MAX_NOTICES) return [...all, added];
  const dropped = all.find(({ isFailure }) => !isFailure) ?? all[0];
  return [...all.filter((notice) => notice !== dropped), added];
}

/** Provides and renders the queue of notices. `z` undoes the latest action. */
export function NoticeProvider({ children }: { readonly children: ReactNode }) {
  const { t } = useTranslation('common');
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const next = useRef(1);
  const userId = useSession()?.user.id;
  // A user must not see or undo the actions of the user who was signed in before.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the notices are cleared when the user changes
  useEffect(() => setNotices([]), [userId]);
  const close = useCallback(
    (id: number) => setNotices((all) => all.filter((notice) => notice.id !== id)),
    [],
  );
  const add = useCallback(
    (
      text: string,
      { undo = null, retry = null, isFailure = false }: Partial<Omit<Notice, 'id' | 'text'>>,
    ) => {
      const id = next.current++;
      setNotices((all) => withNotice(all, { id, text, undo, retry, isFailure }));
      if (!isFailure) setTimeout(() => close(id), UNDO_MS);
    },
    [close],
  );
  const value = useMemo<Notices>(
    () => ({
      offerUndo: (text, undo) => add(text, { undo }),
      say: (text) => add(text, {}),
      sayFailure: (error) => add(sentenceOf(error).sentence, { isFailure: true }),
      sayFailureOf: (what, error, retry) =>
        add(`${what} ${sentenceOf(error).sentence}`, { retry, isFailure: true }),
    }),
    [add],
  );
  const undo = async ({ id, undo: act }: Notice) => {
    close(id);
    await act?.().catch(value.sayFailure);
  };
  const latest = notices.findLast((notice) => notice.undo);
  useShortcuts([
    { keys: 'z', label: t('undo.latest'), scope: 'everywhere', run: () => latest && void undo(latest) },
  ]);
  return (
    <Context value={value}>
      {children}
      <div
        role="status"
        aria-live="polite"
        className="pointer-events-none fixed inset-x-0 bottom-14 z-50 flex flex-col items-center gap-2 px-3 sm:bottom-4 print:hidden"
      >
        {notices.map((notice) => (
          <div
            key={notice.id}
            className="pointer-events-auto flex max-w-xl items-center gap-3 rounded-md border border-line-strong bg-raised py-1.5 ps-3 pe-1.5 shadow-xl"
          >
            {notice.isFailure && <Icon name="failure" className="text-critical" />}
            <bdi className="line-clamp-3">{notice.text}</bdi>
            {notice.undo && (
              <Button kind="quiet" icon="undo" onClick={() => void undo(notice)}>
                {t('undo.undo')} {notice === latest && <Key name="z" />}
              </Button>
            )}
            {notice.retry && (
              <Button
                kind="quiet"
                icon="refresh"
                onClick={() => {
                  close(notice.id);
                  notice.retry?.();
                }}
              >
                {t('failure.retry')}
              </Button>
            )}
            <Button
              kind="quiet"
              icon="close"
              iconOnly
              aria-label={t('dialog.close')}
              onClick={() => close(notice.id)}
            />
          </div>
        ))}
      </div>
    </Context>
  );
}

/** The queue of notices. */
export function useNotices(): Notices {
  const notices = useContext(Context);
  if (!notices) throw new Error('Notices need a NoticeProvider around them');
  return notices;
}
