/** What a mail says of a chart: the figures of last week beside those of the week before. Without words of a language. */

/** Texts of callers; `word` is one of ours, in the language of the reader. */
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

/** Null: an amount without a currency is a number. */
export type Unit = 'number' | 'share' | { money: string | null }

export interface Figure {
  /** In parts: a series and its row, a move from a stage to another. */
  name: readonly Name[]
  unit: Unit
  last: number | null
  /** Null: not known, or there is nothing to compare with. */
  before: number | null
}

export type Summary =
  | { kind: 'figures'; figures: Figure[] }
  | { kind: 'table'; columns: string[]; rows: (string | null)[][] }
  /** It takes more time or memory than allowed, or its saved query or its parameters are no more. */
  | { kind: 'too_much' | 'gone' }

export const text = (value: string): Name => ({ text: value })
export const word = (one: Word, of?: string): Name => ({ word: one, ...(of !== undefined && { of }) })
