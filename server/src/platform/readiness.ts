/** Whether the service accepts requests. While it drains, it still answers but reports that it is not ready. */
export interface Readiness {
  readonly isDraining: boolean;
  /** Names of parts that do not work. While there are any, the health of the service is `degraded`, and it stays ready. */
  readonly concerns: Set<string>;
  /** Makes the service report that it is not ready. */
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
