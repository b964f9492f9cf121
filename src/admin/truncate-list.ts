/** Of a list that was read with one more than is wanted: what is wanted, and whether there is more. */
export function truncateList<Item>(items: Item[], most: number): { kept: Item[]; truncated: boolean } {
  return { kept: items.slice(0, most), truncated: items.length > most }
}

/** What follows the list on a screen. */
export const moreText = (truncated: boolean, said: string): string => (truncated ? `\nThere are more: ${said}` : '')
