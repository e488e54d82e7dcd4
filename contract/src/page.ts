import { z } from 'zod';
import { sortOrders } from './values.ts';

/** Maximum size of a page. */
export const MAX_TAKE = 100;

/** The paging inputs of every list. */
export function paging(defaultTake: number) {
  return {
    skip: z.int().min(0).max(2_147_483_647).default(0).describe('Number of items to skip.'),
    take: z.int().min(1).max(MAX_TAKE).default(defaultTake).describe('Maximum number of items to return.'),
  };
}

export const sortOrder = z.enum(sortOrders);

/** The result of a list: one page and the total number of items. */
export interface Page<Item> {
  items: Item[];
  total: number;
}

export const pageTotals = {
  total: z.number().describe('Number of items on all pages together.'),
  pageCount: z.number().describe('Number of pages.'),
};

/** Number of pages of `take` items that hold `total` items. */
export function pageCount(total: number, take: number): number {
  return Math.ceil(total / take);
}
