/** The texts of the first load. */
export const files = import.meta.glob<object>(['../../**/locale/en.json', '!../../pages/**'], {
  eager: true,
  import: 'default',
});
