/** Whether the service wants requests: while it drains it still answers, and says that others should be asked. */
export interface Readiness {
  readonly isDraining: boolean;
  /** From here on the service says that it is not ready. */
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
