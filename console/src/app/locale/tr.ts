/** The texts of the first load. */
export const files = import.meta.glob<object>(
  [
    '../../**/locale/tr.json',
    '!../../**/{account,administration,connections,locations,reports,studies,traffic}/locale/*',
  ],
  { eager: true, import: 'default' },
);
