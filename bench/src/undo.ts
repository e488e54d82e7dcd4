/** Steps to undo at the end, in reverse order. */
export interface Undo {
  readonly add: (step: () => unknown) => void;
  /** Undoes them. Failures are reported and do not prevent the rest. */
  run(): Promise<void>;
}

export function createUndo(): Undo {
  const steps: (() => unknown)[] = [];
  return {
    add: (step) => void steps.push(step),
    async run() {
      for (let step = steps.pop(); step; step = steps.pop()) {
        try {
          await step();
        } catch (error) {
          process.stderr.write(`A step could not be undone: ${String(error)}\n`);
        }
      }
    },
  };
}
