/**
 * Finds the items that spoil a micro-batch: first whose they are, then which. Businesses do not depend on each other, so each
 * half of them is asked by itself; within a business the order counts. Pure but for the question.
 */
import { searchInOrder } from './search-in-order.ts'

export interface Search<Item> {
  /** Why these do not pass together, in the order of arrival; null when they do. It takes bounded time. */
  faultOf: (some: Item[]) => Promise<string | null>
  businessOf: (item: Item) => string
  contactOf: (item: Item) => string
  /** Has failed lately: looked at last, so that all others are known to pass by one question. */
  isSuspect: (contactOrBusiness: string) => boolean
  /** No time is left to search within a business, or within a contact. */
  isLate: () => boolean
}

export interface Poison {
  reason: string
  /** How much was set aside together: the item, all items of its contact, or all of its business. */
  scope: 'item' | 'contact' | 'business'
}

interface Group<Item> {
  key: string
  items: Item[]
}

interface Guilty<Item> extends Group<Item> {
  /** Why it fails; undefined when it was not asked by itself, but all others pass. */
  fault: string | undefined
}

/**
 * The items without which the others pass. However late it is, which businesses are guilty is found out: only their items
 * are set aside.
 *
 * @param isKnownToFail all items together were seen to fail
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
  for (const guilty of await findGuilty(businesses, fault, ordered, businesses.length - 1)) {
    for (const [item, poison] of await searchBusiness(guilty, ordered)) poisoned.set(item, poison)
  }
  return poisoned
}

/** The likely culprits last: suspects, and those with the most items. */
function groupItems<Item>(
  items: Item[],
  keyOf: (item: Item) => string,
  isSuspect: (key: string) => boolean,
): Group<Item>[] {
  const groups = [...Map.groupBy(items, keyOf)].map(([key, items]) => ({ key, items, isSuspect: isSuspect(key) }))
  return groups.toSorted((a, b) => Number(a.isSuspect) - Number(b.isSuspect) || a.items.length - b.items.length)
}

const itemsOf = <Item>(groups: Group<Item>[]): Item[] => groups.flatMap(({ items }) => items)

/** The groups that fail by themselves, of some that fail together. `at`: how many of them are asked first. */
async function findGuilty<Item>(
  groups: Group<Item>[],
  fault: string | undefined,
  search: Search<Item>,
  at: number,
): Promise<Guilty<Item>[]> {
  const [only] = groups
  if (only && groups.length === 1) return [{ ...only, fault }]
  const [head, tail] = [groups.slice(0, at), groups.slice(at)]
  const inHead = await search.faultOf(itemsOf(head))
  const guilty = inHead === null ? [] : await findGuilty(head, inHead, search, Math.floor(head.length / 2))
  const inTail = inHead === null ? undefined : await search.faultOf(itemsOf(tail))
  if (inTail === null) return guilty
  return [...guilty, ...(await findGuilty(tail, inTail, search, Math.floor(tail.length / 2)))]
}

async function searchBusiness<Item>({ items, fault }: Guilty<Item>, search: Search<Item>): Promise<Map<Item, Poison>> {
  const reason = fault ?? (await search.faultOf(items))
  if (reason === null) return new Map()
  const contacts = groupItems(items, search.contactOf, search.isSuspect)
  if (contacts.length > 1 && search.isLate()) return condemn(items, reason, 'business')
  const guilty = await searchInOrder(contacts, reason, {
    faultOf: (some) => search.faultOf(itemsOf(some)),
    isLate: search.isLate,
  })
  if (contacts.length > 1 && guilty.size === contacts.length && search.isLate())
    return condemn(items, reason, 'business')
  const poisoned = new Map<Item, Poison>()
  for (const [contact, why] of guilty) {
    for (const [item, poison] of await searchContact(contact.items, why, search)) poisoned.set(item, poison)
  }
  return poisoned
}

/** `reason`: why it fails together with contacts that pass. */
async function searchContact<Item>(items: Item[], reason: string, search: Search<Item>): Promise<Map<Item, Poison>> {
  if (items.length === 1) return condemn(items, reason, 'item')
  if (search.isLate()) return condemn(items, reason, 'contact')
  const alone = await search.faultOf(items)
  if (alone === null) return condemn(items, reason, 'contact')
  const guilty = await searchInOrder(items, alone, search)
  const scope = search.isLate() ? 'contact' : 'item'
  return new Map([...guilty].map(([item, why]) => [item, { reason: why, scope }]))
}

function condemn<Item>(items: Item[], reason: string, scope: Poison['scope']): Map<Item, Poison> {
  return new Map(items.map((item) => [item, { reason, scope }]))
}
