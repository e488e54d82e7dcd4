/**
 * Text as it is compared and searched without regard to case: composed, in lower case, with I, İ, ı and i as one letter
 * and the forms of sigma as another. The function `gantry_fold` does the same in the database.
 */
export function fold(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[İI]/g, 'i')
    .toLowerCase()
    .replaceAll('ı', 'i')
    .replaceAll('ς', 'σ')
    .replaceAll('i\u0307', 'i');
}

/** Letters that fold to the same one, in lower case. */
const FORMS: Readonly<Record<string, readonly string[]>> = { i: ['i', 'ı', 'i\u0307'], σ: ['σ', 'ς'] };

/** Up to how many spellings are listed. */
const MOST = 256;

/**
 * The texts in lower case that fold to the same as this one, to look for in an index of texts in lower case. All of them
 * when five of its letters are an i; of longer texts those that differ in the first five, and its own.
 */
export function spellingsOf(text: string): string[] {
  let spellings = [''];
  for (const letter of fold(text)) {
    const forms = FORMS[letter] ?? [letter];
    const taken = spellings.length * forms.length > MOST ? [letter] : forms;
    spellings = spellings.flatMap((start) => taken.map((form) => start + form));
  }
  const own = [text.toLowerCase(), text.toLocaleLowerCase('tr')];
  return [
    ...new Set(
      [...spellings, ...own].flatMap((each) => [each, each.normalize('NFC'), each.normalize('NFD')]),
    ),
  ];
}
