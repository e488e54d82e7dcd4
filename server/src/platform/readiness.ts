/** Whether the service accepts requests. While it drains, it still answers but reports that it is not ready. */
export interface Readiness {
  readonly isDraining: boolean;
  /** From now on the service reports that it is not ready. */
  drain(): void;
}

export function createReadiness(): Readiness {
  let isDraining = false;
  return {
    get isDraining() {
      return isDraining;
    },
    drain() {
      isDraining = true;
    },
  };
}
