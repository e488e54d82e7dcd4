import { catalogueOf } from './rooms.ts';

export const catalogue = catalogueOf(
  import.meta.glob('../*/locale/en.json', { eager: true, import: 'default' }),
);
