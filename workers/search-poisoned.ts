/**
 * Finds the items that make a micro-batch fail: first their businesses, then the items. Businesses are independent, so
 * they are split in halves, which are tried separately. Within a business the order matters. Does no I/O except through
 * `faultOf`.
 */
import { searchInOrder } from './search-in-order.ts'

export interface Search<Item> {
  /**
   * Returns the reason why these items fail together, in the order of arrival; null when they pass. Takes bounded time.
   */
  faultOf: (some: Item[]) => Promise<string | null>
  businessOf: (item: Item) => string
  contactOf: (item: Item) => string
  /** Whether it failed recently. Suspects are tried last, so that one call can show that all others pass. */
  isSuspect: (contactOrBusiness: string) => boolean
  /** Whether no time is left to search within a business or a contact. */
  isLate: () => boolean
}

export interface Poison {
  reason: string
  /** What was set aside together: one item, all items of its contact, or all items of its business. */
  scope: 'item' | 'contact' | 'business'
}

interface Group<Item> {
  key: string
  items: Item[]
}

interface FailingGroup<Item> extends Group<Item> {
  /** The reason why the group fails; undefined when all others pass and it was not tried separately. */
  fault: string | undefined
}

/**
 * Returns the items without which the others pass. The failing businesses are found even after the time limit, so only
 * their items are set aside.
 *
 * @param isKnownToFail whether all items together have already failed
 */
export async function searchPoisoned<Item>(
  items: Item[],
  search: Search<Item>,
  isKnownToFail = false,
): Promise<Map<Item, Poison>> {
  const places = new Map(items.map((item, at) => [item, at]))
  const inOrder = (some: Item[]) => some.toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0))
  const ordered = { ...search, faultOf: (some: Item[]) => search.faultOf(inOrder(some)) }
  const poisoned = new Map<Item, Poison>()
  if (items.length === 0) return poisoned
  const fault = isKnownToFail ? undefined : await search.faultOf(items)
  if (fault === null) return poisoned
  const businesses = groupItems(items, search.businessOf, search.isSuspect)
  for (const failing of await findFailing(businesses, fault, ordered, businesses.length - 1)) {
    for (const [item, poison] of await searchBusiness(failing, ordered)) poisoned.set(item, poison)
  }
  return poisoned
}

/** Sorts the groups most likely to fail to the end: suspects, and those with the most items. */
function groupItems<Item>(
  items: Item[],
  keyOf: (item: Item) => string,
  isSuspect: (key: string) => boolean,
): Group<Item>[] {
  const groups = [...Map.groupBy(items, keyOf)].map(([key, items]) => ({ key, items, isSuspect: isSuspect(key) }))
  return groups.toSorted((a, b) => Number(a.isSuspect) - Number(b.isSuspect) || a.items.length - b.items.length)
}

const itemsOf = <Item>(groups: Group<Item>[]): Item[] => groups.flatMap(({ items }) => items)

/** Returns the groups that fail separately, among groups that fail together. `at`: how many of them are tried first. */
async function findFailing<Item>(
  groups: Group<Item>[],
  fault: string | undefined,
  search: Search<Item>,
  at: number,
): Promise<FailingGroup<Item>[]> {
  const [only] = groups
  if (only && groups.length === 1) return [{ ...only, fault }]
  const [head, tail] = [groups.slice(0, at), groups.slice(at)]
  const inHead = await search.faultOf(itemsOf(head))
  const failing = inHead === null ? [] : await findFailing(head, inHead, search, Math.floor(head.length / 2))
  const inTail = inHead === null ? undefined : await search.faultOf(itemsOf(tail))
  if (inTail === null) return failing
  return [...failing, ...(await findFailing(tail, inTail, search, Math.floor(tail.length / 2)))]
}

async function searchBusiness<Item>(
  { items, fault }: FailingGroup<Item>,
  search: Search<Item>,
): Promise<Map<Item, Poison>> {
  const reason = fault ?? (await search.faultOf(items))
  if (reason === null) return new Map()
  const contacts = groupItems(items, search.contactOf, search.isSuspect)
  if (contacts.length > 1 && search.isLate()) return markAll(items, reason, 'business')
  const failing = await searchInOrder(contacts, reason, {
    faultOf: (some) => search.faultOf(itemsOf(some)),
    isLate: search.isLate,
  })
  if (contacts.length > 1 && failing.size === contacts.length && search.isLate())
    return markAll(items, reason, 'business')
  const poisoned = new Map<Item, Poison>()
  for (const [contact, why] of failing) {
    for (const [item, poison] of await searchContact(contact.items, why, search)) poisoned.set(item, poison)
  }
  return poisoned
}

/** `reason`: why the contact fails together with contacts that pass. */
async function searchContact<Item>(items: Item[], reason: string, search: Search<Item>): Promise<Map<Item, Poison>> {
  if (items.length === 1) return markAll(items, reason, 'item')
  if (search.isLate()) return markAll(items, reason, 'contact')
  const alone = await search.faultOf(items)
  if (alone === null) return markAll(items, reason, 'contact')
  const failing = await searchInOrder(items, alone, search)
  const scope = search.isLate() ? 'contact' : 'item'
  return new Map([...failing].map(([item, why]) => [item, { reason: why, scope }]))
}

function markAll<Item>(items: Item[], reason: string, scope: Poison['scope']): Map<Item, Poison> {
  return new Map(items.map((item) => [item, { reason, scope }]))
}
