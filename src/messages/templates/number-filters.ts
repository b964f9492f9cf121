/** The arithmetic of Liquid with decimal numbers, and amounts of money. */
import { type Context, type Liquid, toValue } from 'liquidjs'
import {
  type Decimal,
  add,
  divide,
  multiply,
  negate,
  readDecimal,
  remainder,
  round,
  toNumber,
} from '../../rules/decimal.ts'
import { formatMoney } from '../../rules/messages/format-money.ts'
import { registerOf } from './registers.ts'

const CALCULATIONS: Record<string, (a: Decimal, b: Decimal) => Decimal> = {
  plus: add,
  minus: (a, b) => add(a, negate(b)),
  times: multiply,
  divided_by: divide,
  modulo: remainder,
}

export function registerNumberFilters(liquid: Liquid): void {
  for (const [name, calculate] of Object.entries(CALCULATIONS)) registerCalculation(liquid, name, calculate)
  liquid.registerFilter('round', function (value: unknown, places: unknown = 0) {
    const decimals = Number(toValue(places)) || 0
    return toNumber(round(numberOf(value), decimals))
  })
  liquid.registerFilter('sum', function* (value: unknown, property?: unknown): Generator<unknown, number> {
    const list = toList(value)
    let total = numberOf(0)
    for (const item of list) {
      const found: unknown = property ? yield fieldOf(this.context, item, String(toValue(property))) : item
      total = add(total, numberOf(found))
    }
    return toNumber(total)
  })
  liquid.registerFilter('money', function (value: unknown, currency?: unknown) {
    // An event without a currency is in that of the business.
    const wanted = String(toValue(currency) ?? '').trim() || registerOf(this.context, 'currency')
    const amount = toValue(value) as unknown
    return formatMoney(amount, wanted, registerOf(this.context, 'language')) ?? amount
  })
}

/** What has no exact result, such as a division by zero, is left to LiquidJS. */
function registerCalculation(liquid: Liquid, name: string, calculate: (a: Decimal, b: Decimal) => Decimal): void {
  const original = liquid.filters[name]
  if (typeof original !== 'function') throw new Error(`LiquidJS has no filter ${name}`)
  liquid.registerFilter(name, function (value: unknown, operand?: unknown, ...rest: unknown[]): unknown {
    const [a, b] = [numberOf(value), numberOf(operand)]
    const isDivision = name === 'divided_by' || name === 'modulo'
    if (isDivision && b.digits === 0n) return original.call(this, value, operand, ...rest) as unknown
    const result = toNumber(calculate(a, b))
    return name === 'divided_by' && rest[0] === true ? Math.floor(result) : result
  })
}

const ZERO: Decimal = { digits: 0n, scale: 0 }

/** As in LiquidJS, a value that is not a number is 0. */
const numberOf = (value: unknown): Decimal => {
  const plain = toValue(value) as unknown
  return readDecimal(plain) ?? readDecimal(Number(plain)) ?? ZERO
}

function toList(value: unknown): unknown[] {
  const list = toValue(value) as unknown
  return Array.isArray(list) ? list : list === undefined || list === null ? [] : [list]
}

const fieldOf = (context: Context, item: unknown, property: string): unknown =>
  context._getFromScope(item, property, false)
