/** What a mail shows of a chart: the figures of last week and of the week before, without words of a language. */

/** `text` comes from callers. `word` is a term of the product, shown in the reader's language. */
export type Name = { text: string } | { word: Word; of?: string }

export const WORDS = [
  'count',
  'contacts',
  'revenue',
  'sum',
  'formula',
  'others',
  'noValue',
  'allEvents',
  'step',
  'conversion',
  'newContacts',
  'cameBack',
  'new',
  'returning',
  'resurrecting',
  'dormant',
  'net',
  'gross',
  'refunds',
  'orders',
  'customers',
  'newCustomers',
  'firstWeekValue',
  'visitors',
  'sessions',
  'pageViews',
  'bounceRate',
  'median',
  'inactive',
  'Awareness',
  'Consideration',
  'Decision',
  'Retention',
  'Advocacy',
] as const
export type Word = (typeof WORDS)[number]

/** `money`: the currency. An amount without a currency (null) is shown as a number. */
export type Unit = 'number' | 'share' | { money: string | null }

export interface Figure {
  /** In parts: a series and its row, or a move from one stage to another. */
  name: readonly Name[]
  unit: Unit
  last: number | null
  /** Null when it is unknown, or when there is nothing to compare with. */
  before: number | null
}

export type Summary =
  | { kind: 'figures'; figures: Figure[] }
  | { kind: 'table'; columns: string[]; rows: (string | null)[][] }
  /**
   * `too_much`: the chart takes more time or memory than allowed. `gone`: its saved query, or what its parameters name,
   * no longer exists.
   */
  | { kind: 'too_much' | 'gone' }

export const text = (value: string): Name => ({ text: value })
export const word = (one: Word, of?: string): Name => ({ word: one, ...(of !== undefined && { of }) })
