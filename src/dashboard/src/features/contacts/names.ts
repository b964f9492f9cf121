/** Contacts by their names. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, take } from '../../client.ts'
import { nameOf } from './show-contact.ts'

const FOUND = 20

/** Without a search text, returns the newest contacts. */
export const findContactsQuery = (businessId: string, query: string) =>
  queryOptions({
    queryKey: ['contacts', businessId, 'find', query],
    queryFn: ({ signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/contacts', {
          params: { path: { businessId }, query: { limit: FOUND, ...(query !== '' && { query }) } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  })

export const namesQuery = (businessId: string, contactIds: readonly string[]) =>
  queryOptions({
    queryKey: ['contact-names', businessId, contactIds],
    queryFn: ({ signal }) => nameContacts(businessId, contactIds, signal),
  })

export const nameContacts = (businessId: string, contactIds: readonly string[], signal?: AbortSignal) =>
  take(
    api.POST('/dashboard/api/b/{businessId}/contacts/names', {
      params: { path: { businessId } },
      body: { contactIds: [...contactIds] },
      signal,
    }),
  )

/** Adds names for people who may see them. */
export async function withNames<Row extends { contactId: string | null }>(
  businessId: string,
  rows: readonly Row[],
  canSee: boolean,
  signal: AbortSignal,
): Promise<(Row & { name: string | undefined })[]> {
  const ids = [...new Set(rows.flatMap(({ contactId }) => contactId ?? []))]
  const contacts = canSee && ids.length > 0 ? (await nameContacts(businessId, ids, signal)).contacts : []
  const names = new Map(contacts.map((contact) => [contact.contactId, nameOf(contact)]))
  return rows.map((row) => ({ ...row, name: names.get(row.contactId ?? '') }))
}
