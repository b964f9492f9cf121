/** Requests on the page, and requests that wait to be shown. Pure: use-feed.ts fetches them. */
import type { DataOf } from '../../../data-of.ts'

type RequestPage = DataOf<'/dashboard/api/b/{businessId}/requests'>
export type LiveRequest = RequestPage['requests'][number]

/** Most rows on the page. Older ones are removed. */
export const MAX_ROWS = 1000

export interface Feed {
  /** Newest first. */
  shown: readonly LiveRequest[]
  waiting: readonly LiveRequest[]
  omitted: number
  /** Undefined before the first answer. */
  newest: number | undefined
  /** Null: there is nothing older to fetch. */
  oldest: number | null
  /** Number of requests since the page was opened, for the summary that is read aloud. */
  arrived: number
}

export const EMPTY_FEED: Feed = { shown: [], waiting: [], omitted: 0, newest: undefined, oldest: null, arrived: 0 }

export type Change =
  | { kind: 'first'; answer: RequestPage }
  | { kind: 'newer'; answer: Omit<RequestPage, 'oldest'>; isHeld: boolean }
  | { kind: 'older'; answer: RequestPage }
  | { kind: 'show' }

export function changeFeed(feed: Feed, change: Change): Feed {
  if (change.kind === 'show') return feed.waiting.length === 0 ? feed : show(feed, feed.waiting)
  const { requests, omitted, newest } = change.answer
  if (change.kind === 'first') {
    return { ...EMPTY_FEED, shown: requests, omitted, newest, oldest: change.answer.oldest }
  }
  const known = new Set([...feed.waiting, ...feed.shown].map(({ id }) => id))
  const added = requests.filter(({ id }) => !known.has(id))
  const counted = { ...feed, omitted: feed.omitted + omitted }
  if (change.kind === 'older') return { ...counted, shown: [...feed.shown, ...added], oldest: change.answer.oldest }
  const next = { ...counted, newest: Math.max(newest, feed.newest ?? 0), arrived: feed.arrived + added.length }
  const waiting = [...added, ...feed.waiting].slice(0, MAX_ROWS)
  return change.isHeld ? { ...next, waiting } : show(next, waiting)
}

function show(feed: Feed, waiting: readonly LiveRequest[]): Feed {
  const all = [...waiting, ...feed.shown]
  const isCut = all.length > MAX_ROWS
  return { ...feed, waiting: [], shown: isCut ? all.slice(0, MAX_ROWS) : all, oldest: isCut ? null : feed.oldest }
}
