/** The choices of the page of attribution: they are in the URL. */
import { type RangeSearch, readOne, readRange, readText } from '../search.ts'

export const MODELS = ['first', 'last', 'linear', 'time_decay', 'position'] as const
export type Model = (typeof MODELS)[number]
export const KEYS = ['channel', 'source', 'campaign', 'landing_page', 'touch'] as const
export type Key = (typeof KEYS)[number]

export interface AttributionSearch extends RangeSearch {
  /** The last touch unless said. */
  model?: Model | undefined
  /** A second one, beside it. */
  beside?: Model | undefined
  /** The channel unless said. */
  by?: Key | undefined
  /** The event that counts; orders unless said. */
  event?: string | undefined
  /** The one with the most revenue unless said. */
  currency?: string | undefined
}

const MAX_EVENT = 64

export function readAttribution(sent: Record<string, unknown>): AttributionSearch {
  const { model, beside, by, event, currency } = sent
  return {
    ...readRange(sent),
    interval: undefined,
    model: readOne(MODELS, model),
    beside: readOne(MODELS, beside),
    by: readOne(KEYS, by),
    event: readText(event, MAX_EVENT),
    currency: readText(currency),
  }
}
