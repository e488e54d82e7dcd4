import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
} from 'react';

/**
 * A keyboard shortcut. Keys are named as in `KeyboardEvent.key`. The prefix `Shift+` requires Shift, and two keys
 * separated by a space are pressed in sequence (`g e`). Other modifiers are not supported, because browsers use them.
 */
export interface Shortcut {
  readonly keys: string;
  /** The description in the sheet of shortcuts. */
  readonly label: string;
  readonly run: () => void;
  /** The heading in the sheet: this page, or the whole console. */
  readonly scope: 'page' | 'everywhere';
}

interface Registry {
  add(shortcuts: { current: readonly Shortcut[] }): () => void;
  /** All shortcuts in the order of precedence: those of the page before those of the shell. */
  inOrder(): readonly Shortcut[];
  /** All shortcuts, in the order in which they were registered. */
  all(): readonly Shortcut[];
  subscribe(changed: () => void): () => void;
}

const Context = createContext<Registry | null>(null);

/** The maximum time between two keys of a sequence, in milliseconds. */
const SEQUENCE_MS = 1_200;

function createRegistry(): Registry {
  const groups: { current: readonly Shortcut[] }[] = [];
  const listeners = new Set<() => void>();
  const changed = () => {
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
    // A page and the shell may be mounted in any order. Within a page, what was mounted last has precedence.
    inOrder() {
      const newest = groups.toReversed().flatMap(({ current }) => current);
      const of = (wanted: Shortcut['scope']) => newest.filter(({ scope }) => scope === wanted);
      return [...of('page'), ...of('everywhere')];
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    all: () => groups.flatMap(({ current }) => current),
  };
}

/** Whether the keyboard is in use by a text field, an open dialog, or an open menu. */
function isTaken(target: EventTarget | null): boolean {
  if (document.querySelector('[role="dialog"][data-open], [role="menu"][data-open]')) return true;
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input:not([type="checkbox"]), textarea, select'))
  );
}

/** Whether the key activates the focused link, button, or input, which has precedence over shortcuts with that key. */
function isPress({ key, target }: KeyboardEvent): boolean {
  return (
    (key === 'Enter' || key === ' ') &&
    target instanceof Element &&
    target.closest('a, button, summary, [role="button"], input') !== null
  );
}

/** Whether the key scrolls the focused area or moves within the focused control. Lists and the page itself give way. */
function isScroll({ key, target }: KeyboardEvent): boolean {
  return (
    key.startsWith('Arrow') &&
    target instanceof Element &&
    target.closest(
      '[tabindex="0"]:not([data-list]), [role="menu"], [role="listbox"], [role="tablist"], input[type="radio"]',
    ) !== null
  );
}

/**
 * Punctuation keys of shortcuts that produce other characters on keyboards of other scripts, by `KeyboardEvent.code` or
 * by the character that they produce.
 */
const MARKS: Readonly<Record<string, string>> = { Slash: '/', BracketLeft: '[', BracketRight: ']', '؟': '?' };

/** The Latin character of a key. Letters and digits of other scripts are mapped by their position on the keyboard. */
function latinOf({ key, code }: KeyboardEvent): string {
  if (!/^[\p{L}\p{Nd}]$/u.test(key) || /^[\p{Script=Latin}\d]$/u.test(key)) return MARKS[key] ?? key;
  const [, named] = /^(?:Key|Digit)(.)$/.exec(code) ?? [];
  return named?.toLowerCase() ?? MARKS[code] ?? key;
}

function nameOf(event: KeyboardEvent): string {
  const key = latinOf(event);
  const isLetter = key.length === 1 && key.toLowerCase() !== key.toUpperCase();
  // Caps Lock produces capital letters without Shift. The lowercase form of the Turkish İ has two characters.
  const name = isLetter ? key.toLowerCase().charAt(0) : key;
  return event.shiftKey && (isLetter || key.length > 1) ? `Shift+${name.toLowerCase()}` : name;
}

/** Handles the shortcuts of all pages with a single `keydown` listener. */
export function ShortcutProvider({ children }: { readonly children: ReactNode }) {
  const registry = useMemo(createRegistry, []);
  useLayoutEffect(() => {
    let first: { key: string; at: number } | null = null;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isTaken(event.target))
        return;
      if (event.defaultPrevented || isPress(event) || isScroll(event)) return;
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

/** Registers the shortcuts while the component is mounted. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const registry = useRegistry();
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  // Before the page is painted: whoever sees it may press a key.
  useLayoutEffect(() => registry.add(latest), [registry]);
}

/** All shortcuts that are currently registered, for the sheet. */
export function useAllShortcuts(): readonly Shortcut[] {
  const registry = useRegistry();
  const [, again] = useReducer((n: number) => n + 1, 0);
  useEffect(() => registry.subscribe(again), [registry]);
  // Read at each rendering: a component has other shortcuts after another rendering, and no listener is called for that.
  // Otherwise a command would run for the incident that was at the cursor before.
  return registry.all();
}
