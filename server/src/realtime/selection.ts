import { type Topic, topic } from '@gantry/contract/realtime';

/** At most one for each set of topics, so fifteen. */
const selections = new Map<string, readonly Topic[]>();

/**
 * The topics, each once and in a fixed order. The same topics give the same object, by which the hub and the pages that
 * are read know streams that follow the same.
 */
export function selectTopics(wanted: readonly Topic[]): readonly Topic[] {
  const selected = topic.options.filter((each) => wanted.includes(each));
  const key = selected.join();
  const known = selections.get(key);
  if (!known) selections.set(key, selected);
  return known ?? selected;
}
