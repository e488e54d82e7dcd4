/**
 * The form in which passwords are compared with the common ones: without regard to case, and without characters other
 * than letters and digits at both ends, so that `Password1!` is as common as `password1`.
 */
export function commonKeyOf(password: string): string {
  return password.toLowerCase().replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
}
