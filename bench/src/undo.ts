/** Clean-up steps, which are run at the end in reverse order. */
export interface Undo {
  readonly add: (step: () => unknown) => void;
  /** Runs the steps. A step that fails is reported, and does not prevent the others. */
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
