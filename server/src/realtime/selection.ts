import { type Topic, topic } from '@gantry/contract/realtime';

/** The known selections by their topics: at most one for each non-empty set of the four topics, so fifteen. */
const selections = new Map<string, readonly Topic[]>();

/**
 * The topics, each once and in a fixed order. The same topics always give the same object, by which the hub and the
 * shared pages recognise streams that follow the same topics.
 */
export function selectTopics(wanted: readonly Topic[]): readonly Topic[] {
  const selected = topic.options.filter((each) => wanted.includes(each));
  const key = selected.join();
  const known = selections.get(key);
  if (!known) selections.set(key, selected);
  return known ?? selected;
}
