/** The fields given in an update: undefined means that a field was not given, null clears the stored value. */
export type Given<Input> = { [Field in keyof Input]?: Exclude<Input[Field], undefined> };

/** The update without the fields that were not given. */
export function given<Input extends object>(input: Input): Given<Input> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as Given<Input>;
}

/** The names of the given fields, as the activity log records them. */
export function givenFields(input: object): string[] {
  return Object.keys(given(input));
}
