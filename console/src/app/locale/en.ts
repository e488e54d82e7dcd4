import { catalogueOf } from './rooms.ts';

export const catalogue = catalogueOf(
  import.meta.glob(['../../**/locale/en.json', '!../../**/{account,administration,connections}/locale/*'], {
    eager: true,
    import: 'default',
  }),
);
