/** The rows of one currency, as the page shows them. */
import { textsOf } from '../../../texts/index.ts'
import type { Attribution } from './queries.ts'
import type { Key } from './search.ts'

type Found = Attribution['rows'][number]

export interface Figures {
  conversions: number
  revenue: number
  /** Null when the rows are grouped by a key that spend does not have. */
  spend: number | null
}

export interface ShownRow extends Figures {
  id: string
  name: string
}

/**
 * Events without an amount have no currency and count in every currency. The rows with the most revenue come first,
 * then those with the most conversions.
 */
export function rowsOf({ rows, by }: Attribution, currency: string): ShownRow[] {
  const shown = new Map<string, ShownRow>()
  for (const row of rows) {
    if (row.currency !== currency && row.currency !== null) continue
    const id = JSON.stringify([row.channel, row.source, row.medium, row.campaign, row.landingPage])
    const known = shown.get(id)
    shown.set(id, {
      id,
      name: nameOf(row, by),
      conversions: (known?.conversions ?? 0) + row.conversions,
      revenue: (known?.revenue ?? 0) + row.revenue,
      spend: row.spend === null ? null : (known?.spend ?? 0) + row.spend,
    })
  }
  return [...shown.values()].toSorted(
    (one, other) =>
      other.revenue - one.revenue || other.conversions - one.conversions || (other.spend ?? 0) - (one.spend ?? 0),
  )
}

function nameOf({ channel, source, medium, campaign, landingPage }: Found, by: Key): string {
  const texts = textsOf('attribution')
  const channelName = channel === null ? '' : texts.channels[channel]
  if (by === 'touch') return [channelName, source, medium, campaign].filter(Boolean).join(' · ')
  const names = { channel: channelName, source, campaign, landing_page: landingPage }
  return names[by] || texts.notSaid
}

/** Returns the currencies that have revenue or spend, the greatest revenue first. */
export function currenciesOf({ rows }: Attribution): string[] {
  const sums = new Map<string, { revenue: number; spend: number }>()
  for (const { currency, revenue, spend } of rows) {
    if (currency === null) continue
    const sum = sums.get(currency) ?? { revenue: 0, spend: 0 }
    sums.set(currency, { revenue: sum.revenue + revenue, spend: sum.spend + (spend ?? 0) })
  }
  const sorted = [...sums].toSorted(([, one], [, other]) => other.revenue - one.revenue || other.spend - one.spend)
  return sorted.map(([currency]) => currency)
}

export const sumOf = (rows: readonly Figures[]): Figures =>
  rows.reduce(
    (sum, { conversions, revenue, spend }) => ({
      conversions: sum.conversions + conversions,
      revenue: sum.revenue + revenue,
      spend: spend === null ? sum.spend : (sum.spend ?? 0) + spend,
    }),
    { conversions: 0, revenue: 0, spend: null } as Figures,
  )

/** Null without spend. */
export const returnOf = ({ revenue, spend }: Figures): number | null => (spend ? revenue / spend : null)
export const costOf = ({ conversions, spend }: Figures): number | null =>
  spend && conversions > 0 ? spend / conversions : null
