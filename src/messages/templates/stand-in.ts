/** The word that stands for a missing value: it is printed, and every condition and the filter `default` see no value. */
import {
  type Context,
  Drop,
  EchoTag,
  type Emitter,
  type FilterImplOptions,
  type Liquid,
  type Value,
  toValue,
} from 'liquidjs'
import { greetingWord } from '../../rules/messages/greeting-word.ts'
import { Markup } from './markup.ts'

type Filter = Exclude<FilterImplOptions, { handler: unknown }>

export class StandIn extends Drop {
  readonly #word: string | Markup

  constructor(word: string | Markup) {
    super()
    this.#word = word
  }
  static wordOf = (value: unknown): unknown => (value instanceof StandIn ? value.#word : value)

  get size(): number {
    return 0
  }
  /** As templates test for a value: `nil`, `blank`, `empty` and `""`. */
  equals(other: unknown): boolean {
    const value: unknown = toValue(other)
    return value === null || value === undefined || value === ''
  }
  gt = (): boolean => false
  geq = (): boolean => false
  lt = (): boolean => false
  leq = (): boolean => false
  override valueOf(): null {
    return null
  }
  /** Of an object that is printed. */
  toJSON(): unknown {
    return toValue(this.#word)
  }
}

/** These filters ask whether there is a value. */
const OF_PRESENCE = new Set(['default', 'size'])

/** After all other filters: what they make of a word stands for the same missing value, so that a later `default` sees none. */
export function registerStandIns(liquid: Liquid): void {
  for (const [name, filter] of Object.entries(liquid.filters)) {
    const handler = typeof filter === 'function' ? filter : filter.handler
    if (!OF_PRESENCE.has(name)) liquid.registerFilter(name, acceptStandIn(handler))
  }
  liquid.registerTag('echo', PrintTag)
}

function acceptStandIn(filter: Filter): Filter {
  return function (value: unknown, ...args: unknown[]): unknown {
    const result = filter.call(this, StandIn.wordOf(value), ...args.map(StandIn.wordOf)) as unknown
    const isText = typeof result === 'string' || result instanceof Markup
    return value instanceof StandIn && isText ? new StandIn(result) : result
  }
}

/** LiquidJS' own takes the value of a Drop before it is escaped. */
class PrintTag extends EchoTag {
  override *render(context: Context, emitter: Emitter): Generator<unknown, void> {
    const { value } = this as unknown as { value?: Value }
    if (value === undefined) return
    const { outputEscape } = this.liquid.options
    const found: unknown = yield value.value(context, false)
    emitter.write(outputEscape?.call({ context, token: this.token, liquid: this.liquid } as never, found) ?? found)
  }
}

/** Puts the word of the variant's language in the place of a missing first name. */
export function greet(values: object, language: string): object {
  const { contact } = values as { contact?: { firstName?: unknown } }
  if (contact === undefined || (contact.firstName ?? '') !== '') return values
  return { ...values, contact: { ...contact, firstName: new StandIn(greetingWord(language)) } }
}
