import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, take } from '../../client.ts'
import type { DataOf } from '../../data-of.ts'
import { withNames } from '../contacts/links.ts'

export type ListedCampaign = DataOf<'/dashboard/api/b/{businessId}/campaigns'>['campaigns'][number]
export type Campaign = DataOf<'/dashboard/api/b/{businessId}/campaigns/{campaignId}'>['campaign']
export type Report = DataOf<'/dashboard/api/b/{businessId}/campaigns/{campaignId}/report'>['report']
export type Enrolment = DataOf<'/dashboard/api/b/{businessId}/campaigns/{campaignId}/enrolments'>['enrolments'][number]
export type Message = DataOf<'/dashboard/api/b/{businessId}/messages'>['messages'][number]
export type Backtest = DataOf<'/dashboard/api/b/{businessId}/campaigns/{campaignId}/backtest/{backtestId}'>['backtest']
export type EnrolmentState = Enrolment['state']
export type MessageState = Message['state']

export const ENROLMENT_STATES = [
  'active',
  'finished',
  'converted',
  'stopped',
  'merged',
] as const satisfies readonly EnrolmentState[]

/** Of messages of campaigns. */
export const MESSAGE_STATES = [
  'claimed',
  'sent',
  'delivered',
  'bounced',
  'complained',
  'failed',
  'skipped',
  'unknown',
] as const satisfies readonly MessageState[]

export interface CampaignPath {
  businessId: string
  campaignId: string
}

/** Reads all campaigns, at most 1,000, oldest first. */
export const campaignsQuery = (businessId: string) =>
  queryOptions({
    queryKey: ['campaigns', businessId],
    queryFn: async ({ signal }) => {
      const campaigns: ListedCampaign[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const page = await readCampaigns(businessId, cursor, signal)
        campaigns.push(...page.campaigns)
        cursor = page.nextCursor
      }
      return { campaigns }
    },
  })

const readCampaigns = (businessId: string, cursor: string, signal: AbortSignal) =>
  take(
    api.GET('/dashboard/api/b/{businessId}/campaigns', {
      params: { path: { businessId }, query: { limit: 500, ...(cursor && { cursor }) } },
      signal,
    }),
  )

export const campaignQuery = (path: CampaignPath) =>
  queryOptions({
    queryKey: ['campaign', path],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/campaigns/{campaignId}', { params: { path }, signal })),
  })

/** ISO 8601. The range of the enrolments' instants, both ends included. */
export interface ReportRange {
  from?: string
  to?: string
}

export const reportQuery = (path: CampaignPath, range: ReportRange = {}) =>
  queryOptions({
    queryKey: ['campaign', path, 'report', range],
    queryFn: ({ signal }) => {
      const params = { path, query: range }
      return take(api.GET('/dashboard/api/b/{businessId}/campaigns/{campaignId}/report', { params, signal }))
    },
    placeholderData: keepPreviousData,
  })

const PAGE_SIZE = 100

/** Enrolments are about people, so this needs `contacts:read`, as messages do. */
export const enrolmentsQuery = (path: CampaignPath, state: EnrolmentState | undefined) =>
  infiniteQueryOptions({
    queryKey: ['campaign', path, 'enrolments', state],
    queryFn: async ({ pageParam, signal }) => {
      const query = { limit: PAGE_SIZE, ...(state && { state }), ...(pageParam && { cursor: pageParam }) }
      const page = await take(
        api.GET('/dashboard/api/b/{businessId}/campaigns/{campaignId}/enrolments', { params: { path, query }, signal }),
      )
      return { rows: await withNames(path.businessId, page.enrolments, true, signal), nextCursor: page.nextCursor }
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

export interface MessageFilter {
  campaignId?: string
  contactId?: string
  state?: MessageState | undefined
}

export const messagesQuery = (businessId: string, filter: MessageFilter) =>
  infiniteQueryOptions({
    queryKey: ['messages', businessId, filter],
    queryFn: async ({ pageParam, signal }) => {
      const { state, ...rest } = filter
      const query = { limit: PAGE_SIZE, ...rest, ...(state && { state }), ...(pageParam && { cursor: pageParam }) }
      const params = { path: { businessId }, query }
      const page = await take(api.GET('/dashboard/api/b/{businessId}/messages', { params, signal }))
      return { rows: await withNames(businessId, page.messages, true, signal), nextCursor: page.nextCursor }
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

export const messageQuery = (businessId: string, messageId: string) =>
  queryOptions({
    queryKey: ['message', businessId, messageId],
    queryFn: ({ signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/messages/{messageId}', {
          params: { path: { businessId, messageId } },
          signal,
        }),
      ),
  })
