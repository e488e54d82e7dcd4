import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useSyncExternalStore,
} from 'react';

/**
 * One command of the keyboard. A key is as `KeyboardEvent.key` names it; `Shift+` before it asks for Shift, and two keys
 * with a blank between them are pressed in turn (`g e`). No other modifier is taken, because browsers have theirs.
 */
export interface Shortcut {
  readonly keys: string;
  /** What it does, for the sheet. */
  readonly label: string;
  readonly run: () => void;
  /** Under which heading it stands in the sheet: the page, or the whole console. */
  readonly scope: 'page' | 'everywhere';
}

interface Registry {
  add(shortcuts: { current: readonly Shortcut[] }): () => void;
  /** Those that a key is looked for in, the page's before the shell's. */
  inOrder(): readonly Shortcut[];
  /** All of them; the same array until they change. */
  all(): readonly Shortcut[];
  subscribe(changed: () => void): () => void;
}

const Context = createContext<Registry | null>(null);

/** Within this time the second of two keys counts, in milliseconds. */
const SEQUENCE_MS = 1_200;

function createRegistry(): Registry {
  const groups: { current: readonly Shortcut[] }[] = [];
  const listeners = new Set<() => void>();
  let listed: readonly Shortcut[] = [];
  const changed = () => {
    listed = groups.flatMap(({ current }) => current);
    for (const listener of listeners) listener();
  };
  return {
    add(group) {
      groups.push(group);
      changed();
      return () => {
        groups.splice(groups.indexOf(group), 1);
        changed();
      };
    },
    // The last that was added comes first: a page has precedence over the shell.
    inOrder: () => groups.toReversed().flatMap(({ current }) => current),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    all: () => listed,
  };
}

/** Whether keys are text at the moment, or belong to a dialog or a menu. */
function isTaken(target: EventTarget | null): boolean {
  if (document.querySelector('[role="dialog"][data-open], [role="menu"][data-open]')) return true;
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input:not([type="checkbox"]), textarea, select'))
  );
}

/** Enter and the space bar press the button that has the focus, whatever else they do on the page. */
function isPress({ key, target }: KeyboardEvent): boolean {
  return (
    (key === 'Enter' || key === ' ') &&
    target instanceof Element &&
    target.closest('a, button, summary, [role="button"], input') !== null
  );
}

/** Keys with commands that give letters, or a mark of their own, on keyboards of other scripts. */
const MARKS: Readonly<Record<string, string>> = { Slash: '/', BracketLeft: '[', BracketRight: ']', '؟': '?' };

/** What a key gives. One that gives a letter or a digit of another script is taken by its place on the keyboard. */
function latinOf({ key, code }: KeyboardEvent): string {
  if (!/^[\p{L}\p{Nd}]$/u.test(key) || /^[\p{Script=Latin}\d]$/u.test(key)) return MARKS[key] ?? key;
  const [, named] = /^(?:Key|Digit)(.)$/.exec(code) ?? [];
  return named?.toLowerCase() ?? MARKS[code] ?? key;
}

function nameOf(event: KeyboardEvent): string {
  const key = latinOf(event);
  const isLetter = key.length === 1 && key.toLowerCase() !== key.toUpperCase();
  // Caps Lock gives large letters without Shift. The small form of the Turkish İ has two characters.
  const name = isLetter ? key.toLowerCase().charAt(0) : key;
  return event.shiftKey && (isLetter || key.length > 1) ? `Shift+${name.toLowerCase()}` : name;
}

/** Hears the keys for all pages. */
export function ShortcutProvider({ children }: { readonly children: ReactNode }) {
  const registry = useMemo(createRegistry, []);
  useEffect(() => {
    let first: { key: string; at: number } | null = null;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isTaken(event.target))
        return;
      if (event.defaultPrevented || isPress(event)) return;
      const key = nameOf(event);
      const sequence = first && event.timeStamp - first.at < SEQUENCE_MS ? `${first.key} ${key}` : null;
      const list = registry.inOrder();
      const found =
        (sequence && list.find(({ keys }) => keys === sequence)) || list.find(({ keys }) => keys === key);
      first = found ? null : { key, at: event.timeStamp };
      if (!found) return;
      event.preventDefault();
      found.run();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [registry]);
  return <Context value={registry}>{children}</Context>;
}

function useRegistry(): Registry {
  const registry = useContext(Context);
  if (!registry) throw new Error('Shortcuts need a ShortcutProvider around them');
  return registry;
}

/** Offers these commands as long as the component is shown. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const registry = useRegistry();
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => registry.add(latest), [registry]);
}

/** All commands that the keyboard has at the moment, for the sheet. */
export function useAllShortcuts(): readonly Shortcut[] {
  const registry = useRegistry();
  return useSyncExternalStore(registry.subscribe, registry.all);
}
