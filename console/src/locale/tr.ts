import { catalogueOf } from './rooms.ts';

export const catalogue = catalogueOf(
  import.meta.glob('../*/locale/tr.json', { eager: true, import: 'default' }),
);
