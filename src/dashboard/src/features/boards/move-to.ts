/** Returns the list with one item moved to another index. If the item no longer exists, the list stays the same. */
export function moveTo<T extends { id: string }>(items: readonly T[], id: string, to: number): T[] {
  const moved = items.filter((item) => item.id === id)
  return items.filter((item) => item.id !== id).toSpliced(to, 0, ...moved)
}
