/** The texts of the first load. */
export const files = import.meta.glob<object>(['../../**/locale/ar.json', '!../../pages/**'], {
  eager: true,
  import: 'default',
});
