/**
 * Whether a topic matches a filter (MQTT 3.1.1, section 4.7): `+` stands for one level, and `#` at the end for any number
 * of them. Filters that begin with a wildcard do not match topics that begin with `$`.
 */
export function matchesTopic(filter: string, topic: string): boolean {
  if (topic.startsWith('$') && /^[+#]/.test(filter)) return false;
  const wanted = filter.split('/');
  const levels = topic.split('/');
  for (const [at, want] of wanted.entries()) {
    if (want === '#') return true;
    if (at >= levels.length || (want !== '+' && want !== levels[at])) return false;
  }
  return wanted.length === levels.length;
}

/** Whether the text is a filter that a broker accepts. */
export function isTopicFilter(text: string): boolean {
  const levels = text.split('/');
  return (
    text !== '' &&
    !text.includes('\0') &&
    levels.every(
      (level, at) => !/[+#]/.test(level) || level === '+' || (level === '#' && at === levels.length - 1),
    )
  );
}
