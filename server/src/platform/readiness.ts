/** Whether the service accepts requests. While it drains, it still answers but reports that it is not ready. */
export interface Readiness {
  readonly isDraining: boolean;
  /** Names of what does not work although the service does: its health is `degraded`, and it stays ready. */
  readonly concerns: Set<string>;
  /** From now on the service reports that it is not ready. */
  drain(): void;
}

export function createReadiness(): Readiness {
  let isDraining = false;
  return {
    get isDraining() {
      return isDraining;
    },
    concerns: new Set(),
    drain() {
      isDraining = true;
    },
  };
}
