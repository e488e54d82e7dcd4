import { useSyncExternalStore } from 'react';

/** A choice of the user that the browser keeps, the same in all of its tabs. */
export interface Stored<Value> {
  get(): Value;
  set(value: Value): void;
  subscribe(changed: () => void): () => void;
  use(): Value;
}

const PREFIX = 'gantry.';

/**
 * Makes a stored choice.
 * @param name the same in every version of the console
 * @param isValid tells what may have been stored by another version
 */
export function createStored<Value>(
  name: string,
  initial: Value,
  isValid: (value: unknown) => boolean = () => true,
): Stored<Value> {
  const key = PREFIX + name;
  const listeners = new Set<() => void>();
  let value = read();

  function read(): Value {
    try {
      const text = localStorage.getItem(key);
      const parsed: unknown = text === null ? initial : JSON.parse(text);
      return isValid(parsed) ? (parsed as Value) : initial;
    } catch {
      return initial;
    }
  }

  const changed = () => {
    for (const listener of listeners) listener();
  };
  addEventListener('storage', (event) => {
    if (event.key !== key && event.key !== null) return;
    value = read();
    changed();
  });
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };

  return {
    get: () => value,
    set(next) {
      value = next;
      try {
        localStorage.setItem(key, JSON.stringify(next));
      } catch {
        // Without storage the choice lasts as long as the tab.
      }
      changed();
    },
    subscribe,
    use: () => useSyncExternalStore(subscribe, () => value),
  };
}
