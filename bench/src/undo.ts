/** Steps that are undone at the end, the last one first. */
export interface Undo {
  readonly add: (step: () => unknown) => void;
  /** Undoes them; what cannot be undone is told and does not keep the rest. */
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
          process.stderr.write(`Something is left behind: ${String(error)}\n`);
        }
      }
    },
  };
}
