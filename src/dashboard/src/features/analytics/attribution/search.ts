/** The choices on the attribution page, which are in the URL. */
import { type RangeSearch, readOne, readRange, readText } from '../search.ts'

export const MODELS = ['first', 'last', 'linear', 'time_decay', 'position'] as const
export type Model = (typeof MODELS)[number]
export const KEYS = ['channel', 'source', 'campaign', 'landing_page', 'touch'] as const
export type Key = (typeof KEYS)[number]

export interface AttributionSearch extends RangeSearch {
  /** Default: the last touch. */
  model?: Model | undefined
  /** Second model, for comparison. */
  beside?: Model | undefined
  /** Default: the channel. */
  by?: Key | undefined
  /** Event that counts as a conversion. Default: orders. */
  event?: string | undefined
  /** Default: the currency with the most revenue. */
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
