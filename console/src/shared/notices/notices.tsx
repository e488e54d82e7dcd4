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
import { Icon, type IconName } from '../../ui/icon.tsx';
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
  /** What may come next for the object of the action. */
  readonly next: NextStep | null;
  /** Repeats the action that failed. */
  readonly retry: (() => void) | null;
}

/** A command about the object of an action, which may be out of view when its notice is read. */
export interface NextStep {
  readonly label: string;
  readonly icon: IconName;
  /** The key of the command, for the latest notice that offers it. */
  readonly keys: string;
  readonly run: () => void;
}

interface Notices {
  /** Shows a notice with an undo button for `UNDO_MS`. @param next what else is offered for the object of the action */
  offerUndo(text: string, undo: () => Promise<void>, next?: NextStep | null): void;
  /** Shows a notice for `UNDO_MS`. @param next as of `offerUndo` */
  say(text: string, next?: NextStep | null): void;
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
  const nextId = useRef(1);
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
      { undo = null, next = null, retry = null, isFailure = false }: Partial<Omit<Notice, 'id' | 'text'>>,
    ) => {
      const id = nextId.current++;
      setNotices((all) => withNotice(all, { id, text, undo, next, retry, isFailure }));
      if (!isFailure) setTimeout(() => close(id), UNDO_MS);
    },
    [close],
  );
  const value = useMemo<Notices>(
    () => ({
      offerUndo: (text, undo, next = null) => add(text, { undo, next }),
      say: (text, next = null) => add(text, { next }),
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
  const goOn = ({ id, next }: Notice) => {
    close(id);
    next?.run();
  };
  const latest = notices.findLast((notice) => notice.undo);
  const latestNext = notices.findLast((notice) => notice.next);
  useShortcuts([
    { keys: 'z', label: t('undo.latest'), scope: 'everywhere', run: () => latest && void undo(latest) },
    ...(latestNext?.next
      ? [{ ...latestNext.next, scope: 'everywhere' as const, run: () => goOn(latestNext) }]
      : []),
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
            className="pointer-events-auto flex max-w-xl flex-wrap items-center justify-end gap-x-3 gap-y-1 rounded-md border border-line-strong bg-raised py-1.5 ps-3 pe-1.5 shadow-xl"
          >
            {notice.isFailure && <Icon name="failure" className="text-critical" />}
            <bdi className="line-clamp-3 min-w-0 grow">{notice.text}</bdi>
            {notice.undo && (
              <Button kind="quiet" icon="undo" onClick={() => void undo(notice)}>
                {t('undo.undo')} {notice === latest && <KeyHint name="z" />}
              </Button>
            )}
            {notice.next && (
              <Button kind="quiet" icon={notice.next.icon} onClick={() => goOn(notice)}>
                {notice.next.label} {notice === latestNext && <KeyHint name={notice.next.keys} />}
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

/** The key of a command, for those who have a keyboard. */
function KeyHint({ name }: { readonly name: string }) {
  return (
    <span className="pointer-coarse:hidden">
      <Key name={name} />
    </span>
  );
}

/** The queue of notices. */
export function useNotices(): Notices {
  const notices = useContext(Context);
  if (!notices) throw new Error('Notices need a NoticeProvider around them');
  return notices;
}
