import { GantryError, type GantryErrorCode } from '@gantry/client';

/** A failed item in the response to a batch request. */
export interface FailedItem {
  readonly id: string;
  readonly error: { readonly code: string; readonly message: string };
}

/** Whether an item in the response to a batch request failed. */
export function isFailed(result: object): result is FailedItem {
  return 'error' in result;
}

/** The error of a failed item, as if the item had been a request of its own. */
export function errorOf({ error: { code, message } }: FailedItem): GantryError {
  return new GantryError(code as GantryErrorCode, message);
}
