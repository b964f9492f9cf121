/** What Ctrl-K finds in a business: contacts, segments and campaigns. */
import type { QueryClient } from '@tanstack/react-query'
import type { IconName } from '../parts/value/icon-shapes.ts'
import type { SearchGroup, SearchOption } from '../parts/list/search-list.tsx'
import { campaignsQuery } from '../features/campaigns/links.ts'
import { findContactsQuery, nameOf } from '../features/contacts/links.ts'
import { segmentsQuery } from '../features/rules/queries.ts'
import type { Business } from '../session/session.ts'
import { textsOf } from '../texts/index.ts'

export interface PaletteItem extends SearchOption {
  icon: IconName
  run: () => void
}

export type PaletteGroup = SearchGroup<PaletteItem>

/** Most results of each kind. */
const MOST = 6

interface SearchContext {
  client: QueryClient
  business: Business
  /** Opens a page of the business, given the end of its path. */
  open: (page: string) => void
}

export const matches = (label: string, wanted: string): boolean =>
  wanted
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => label.toLocaleLowerCase().includes(word))

/** Finds contacts, segments and campaigns. A kind whose request fails is left out. */
export async function searchBusiness(context: SearchContext, wanted: string): Promise<PaletteGroup[]> {
  const groups = await Promise.allSettled([
    findContacts(context, wanted),
    findSegments(context, wanted),
    findCampaigns(context, wanted),
  ])
  return groups.flatMap((group) => (group.status === 'fulfilled' ? [group.value] : []))
}

async function findContacts({ client, business, open }: SearchContext, wanted: string): Promise<PaletteGroup> {
  const title = textsOf('shell').navigation.contacts
  if (!business.permissions.includes('contacts:read')) return { title, options: [] }
  const { contacts } = await client.fetchQuery(findContactsQuery(business.id, wanted))
  const options = contacts.slice(0, MOST).map((contact) => ({
    key: contact.contactId,
    label: nameOf(contact) ?? contact.contactId,
    detail: contact.identities.email[0],
    icon: 'person' as const,
    run: () => open(`contacts/${contact.contactId}`),
  }))
  return { title, options }
}

async function findSegments({ client, business, open }: SearchContext, wanted: string): Promise<PaletteGroup> {
  const { segments } = await client.fetchQuery(segmentsQuery(business.id))
  const found = segments.filter(({ name }) => matches(name, wanted)).slice(0, MOST)
  const options = found.map(({ segmentId, name }) => ({
    key: segmentId,
    label: name,
    icon: 'segments' as const,
    run: () => open(`segments/${segmentId}`),
  }))
  return { title: textsOf('shell').navigation.segments, options }
}

async function findCampaigns({ client, business, open }: SearchContext, wanted: string): Promise<PaletteGroup> {
  const { campaigns } = await client.fetchQuery(campaignsQuery(business.id))
  const found = campaigns.filter(({ name }) => matches(name, wanted)).slice(0, MOST)
  const options = found.map(({ campaignId, name }) => ({
    key: campaignId,
    label: name,
    icon: 'campaign' as const,
    run: () => open(`campaigns/${campaignId}`),
  }))
  return { title: textsOf('shell').navigation.campaigns, options }
}
