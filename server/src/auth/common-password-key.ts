/**
 * The form in which passwords are compared with the common ones: without regard to case, and without characters other
 * than letters and digits at both ends, so that `Password1!` is as common as `password1`.
 */
export function commonKeyOf(password: string): string {
  const characters = [...password.toLowerCase()];
  const first = characters.findIndex(isLetterOrDigit);
  return first === -1 ? '' : characters.slice(first, characters.findLastIndex(isLetterOrDigit) + 1).join('');
}

function isLetterOrDigit(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character);
}
