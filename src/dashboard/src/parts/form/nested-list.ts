/** Lists inside the items of lists, such as groups of conditions and branches of steps: the changes that both have. */

/** A place in a list; `List` says which one. */
export interface Place<List> {
  list: List
  at: number
}

/** How a value holds its lists. */
export interface NestedLists<Value, List, Item> {
  itemsOf: (value: Value, list: List) => readonly Item[]
  /** The lists inside the item at a place, in reading order. */
  listsIn: (value: Value, place: Place<List>) => readonly List[]
  /** The place of the item that the list is in. Undefined for the outermost list. */
  around: (value: Value, list: List) => Place<List> | undefined
  withItems: (value: Value, list: List, items: Item[]) => Value
}

type Lists<Value, List, Item> = NestedLists<Value, List, Item>

export const insertAt = <Value, List, Item>(
  { itemsOf, withItems }: Lists<Value, List, Item>,
  value: Value,
  { list, at }: Place<List>,
  item: Item,
): Value => withItems(value, list, itemsOf(value, list).toSpliced(at, 0, item))

export const removeAt = <Value, List, Item>(
  { itemsOf, withItems }: Lists<Value, List, Item>,
  value: Value,
  { list, at }: Place<List>,
): Value => withItems(value, list, itemsOf(value, list).toSpliced(at, 1))

/**
 * Moves an item by one place in reading order: past an item, into its lists, from one list to the next, or out of them.
 * Returns undefined when there is no such place.
 */
export function moveItem<Value, List, Item>(
  lists: Lists<Value, List, Item>,
  value: Value,
  from: Place<List>,
  direction: 'up' | 'down',
): { value: Value; place: Place<List> } | undefined {
  const item = lists.itemsOf(value, from.list)[from.at]
  if (item === undefined) return undefined
  // The places after the item are those without it.
  const rest = removeAt(lists, value, from)
  const place = direction === 'up' ? placeAbove(lists, rest, from) : placeBelow(lists, rest, from)
  return place && { value: insertAt(lists, rest, place, item), place }
}

function placeAbove<Value, List, Item>(lists: Lists<Value, List, Item>, value: Value, { list, at }: Place<List>) {
  const endOf = (inner: List): Place<List> => ({ list: inner, at: lists.itemsOf(value, inner).length })
  if (at > 0) {
    const above = { list, at: at - 1 }
    const last = lists.listsIn(value, above).at(-1)
    return last === undefined ? above : endOf(last)
  }
  const around = lists.around(value, list)
  if (around === undefined) return undefined
  const siblings = lists.listsIn(value, around)
  const before = siblings[siblings.indexOf(list) - 1]
  return before === undefined ? around : endOf(before)
}

function placeBelow<Value, List, Item>(lists: Lists<Value, List, Item>, value: Value, { list, at }: Place<List>) {
  if (at < lists.itemsOf(value, list).length) {
    const [first] = lists.listsIn(value, { list, at })
    return first === undefined ? { list, at: at + 1 } : { list: first, at: 0 }
  }
  const around = lists.around(value, list)
  if (around === undefined) return undefined
  const siblings = lists.listsIn(value, around)
  const next = siblings[siblings.indexOf(list) + 1]
  return next === undefined ? { list: around.list, at: around.at + 1 } : { list: next, at: 0 }
}
