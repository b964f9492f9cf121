/** The list with one of its items at another place. An item that is gone is moved nowhere. */
export function moveTo<T extends { id: string }>(items: readonly T[], id: string, to: number): T[] {
  const moved = items.filter((item) => item.id === id)
  return items.filter((item) => item.id !== id).toSpliced(to, 0, ...moved)
}
