/** A store of a database of this browser, which is the only one of its database. */
export interface StoreName {
  readonly database: string;
  readonly store: string;
  /** Its keys are numbers in the order of their addition. */
  readonly isNumbered?: boolean;
}

/**
 * Runs a transaction on a store, which is created if necessary.
 * @returns a promise that is fulfilled once the transaction is complete, or rejected with a DOMException if the storage
 *   of the browser is full or switched off
 */
export async function withStore(
  { database: name, store, isNumbered = false }: StoreName,
  mode: IDBTransactionMode,
  run: (store: IDBObjectStore) => void,
): Promise<void> {
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(store, { autoIncrement: isNumbered });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  try {
    await new Promise<void>((resolve, reject) => {
      const transaction = database.transaction(store, mode);
      transaction.oncomplete = () => resolve();
      transaction.onerror = () => reject(transaction.error);
      transaction.onabort = () => reject(transaction.error);
      run(transaction.objectStore(store));
    });
  } finally {
    database.close();
  }
}
