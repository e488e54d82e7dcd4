// Sentences with {{values}} in them, which the service fills in English and the console in the language of the user.

/** A value in a sentence. An array is written as a list. */
export type SentenceValue = string | number | readonly string[];

/** The names of the values of a sentence. */
export type NamesIn<Text> = Text extends `${string}{{${infer Name}}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** A sentence with its values. */
export function filled(sentence: string, values: Readonly<Record<string, SentenceValue>>): string {
  return sentence.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name] ?? '';
    return typeof value === 'object' ? value.join(', ') : String(value);
  });
}
