/** The parts of JSONata's syntax tree that are read here. */
interface SyntaxNode {
  readonly type: string;
  readonly value?: unknown;
  readonly lhs?: readonly (readonly [SyntaxNode, SyntaxNode])[];
  readonly expressions?: readonly SyntaxNode[];
  readonly steps?: readonly SyntaxNode[];
}

/** Maximum number of keys that are named. */
const MAX_NAMED = 10;

/**
 * The keys that an expression sets to the value at a path, and that no object of its result has: usually the path is
 * misspelt. As sentences.
 * @param tree the syntax tree of JSONata
 */
export function keysWithoutValue(tree: unknown, result: unknown): string[] {
  const objects = (Array.isArray(result) ? result : [result]).filter(
    (each) => typeof each === 'object' && each !== null,
  );
  if (objects.length === 0) return [];
  return pathsByKey(tree as SyntaxNode)
    .filter(([key]) => !objects.some((each) => Object.hasOwn(each, key)))
    .slice(0, MAX_NAMED)
    .map(([key, path]) => `${key} has no value, because the message has none at ${path}`);
}

/** The keys of the objects that are certainly constructed, with their paths. */
function pathsByKey({ type, value, lhs, expressions = [], steps = [] }: SyntaxNode): [string, string][] {
  if (type === 'unary' && value === '{') {
    return (lhs ?? []).flatMap(([key, from]) => {
      const path = pathOf(from);
      return key.type === 'string' && path !== null ? [[String(key.value), path]] : [];
    });
  }
  if (type === 'unary' && value === '[') return expressions.flatMap(pathsByKey);
  const last = type === 'block' ? expressions.at(-1) : type === 'path' ? steps.at(-1) : undefined;
  return last ? pathsByKey(last) : [];
}

/** The path as it is written, if it consists of names only. */
function pathOf({ type, steps = [] }: SyntaxNode): string | null {
  const areNames = type === 'path' && steps.every((step) => step.type === 'name');
  return areNames ? steps.map((step) => String(step.value)).join('.') : null;
}
