/** The texts of the first load. */
export const files = import.meta.glob<object>(
  [
    '../../**/locale/ar.json',
    '!../../**/{account,administration,connections,locations,reports,studies,traffic}/locale/*',
  ],
  { eager: true, import: 'default' },
);
