/** Returns the first `max` items, and whether there are more. The caller has read up to `max` + 1 items. */
export function truncateList<Item>(items: Item[], max: number): { shown: Item[]; truncated: boolean } {
  return { shown: items.slice(0, max), truncated: items.length > max }
}

/** Returns the last line below a truncated list. */
export const describeMore = (truncated: boolean, detail: string): string =>
  truncated ? `\nThere are more: ${detail}` : ''
