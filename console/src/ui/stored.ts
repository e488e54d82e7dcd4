import { useSyncExternalStore } from 'react';

/** A preference that is kept in local storage and synchronised between the tabs of the browser. */
export interface Stored<Value> {
  get(): Value;
  set(value: Value): void;
  subscribe(changed: () => void): () => void;
  use(): Value;
}

const PREFIX = 'gantry.';

/**
 * Creates a stored preference.
 * @param name the key in local storage, without the prefix; must not change between versions of the console
 * @param isValid checks the stored value, which another version of the console may have written
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
        // Without storage, the value lasts until the tab is closed or reloaded.
      }
      changed();
    },
    subscribe,
    use: () => useSyncExternalStore(subscribe, () => value),
  };
}
