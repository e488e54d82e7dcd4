import { catalogueOf } from './rooms.ts';

export const catalogue = catalogueOf(
  import.meta.glob('../*/locale/ar.json', { eager: true, import: 'default' }),
);
