/** Checks the value that an operator compares with. */
import { STAGES } from '../../events/journey-stage.ts'
import { readIso } from '../../events/read-iso.ts'
import { isClean } from '../../events/text.ts'
import { comparerWithDecimal } from '../decimals.ts'
import { DECIMAL, MAX_DAYS, MAX_DECIMAL, MAX_TEXT, MAX_TEXTS } from '../grammar/limits.ts'
import type { Operand } from '../grammar/operators.ts'
import { type Faults, fault, readOneOf } from './reading.ts'
import type { RuleNumber } from '../rule.ts'

/** @param takesDecimals whether a number may also be a decimal string */
export const checkValue = (
  reading: Faults,
  raw: unknown,
  path: string,
  operand: Exclude<Operand, 'none'>,
  takesDecimals: boolean,
): void => CHECKS[operand](reading, raw, path, takesDecimals)

type Check = (reading: Faults, raw: unknown, path: string, takesDecimals: boolean) => void

const CHECKS: Record<Exclude<Operand, 'none'>, Check> = {
  days: checkDays,
  instant: (reading, raw, path) => {
    if (typeof raw !== 'string' || readIso(raw) === undefined) fault(reading, path, 'real_instant')
  },
  number: (reading, raw, path, takesDecimals) => {
    if (!isNumber(raw, takesDecimals)) fault(reading, path, takesDecimals ? 'decimal' : 'plain_number')
  },
  range: checkRange,
  text: checkText,
  stage: checkStage,
  texts: (reading, raw, path) => checkList(reading, raw, path, checkText),
  stages: (reading, raw, path) => checkList(reading, raw, path, checkStage),
}

export function checkDays(reading: Faults, raw: unknown, path: string): void {
  if (typeof raw === 'number' && raw > 0 && raw <= MAX_DAYS) return
  fault(reading, path, 'days', { max: MAX_DAYS })
}

function isNumber(raw: unknown, takesDecimals: boolean): raw is RuleNumber {
  if (typeof raw === 'number') return Number.isFinite(raw)
  return takesDecimals && typeof raw === 'string' && raw.length <= MAX_DECIMAL && DECIMAL.test(raw)
}

function checkRange(reading: Faults, raw: unknown, path: string, takesDecimals: boolean): void {
  const bounds: unknown[] = Array.isArray(raw) ? raw : []
  const [from, to] = bounds
  if (!isNumber(from, takesDecimals) || !isNumber(to, takesDecimals) || bounds.length > 2) {
    fault(reading, path, takesDecimals ? 'decimal_range' : 'range')
  } else if (comparerWithDecimal(to)(String(from)) > 0) {
    fault(reading, path, 'lesser_first')
  }
}

function checkText(reading: Faults, raw: unknown, path: string): void {
  if (typeof raw !== 'string') fault(reading, path, 'text')
  else if (raw.length === 0 || raw.length > MAX_TEXT) fault(reading, path, 'characters', { min: 1, max: MAX_TEXT })
  else if (!isClean(raw)) fault(reading, path, 'clean_text')
}

function checkStage(reading: Faults, raw: unknown, path: string): void {
  readOneOf(reading, raw, path, STAGES)
}

function checkList(
  reading: Faults,
  raw: unknown,
  path: string,
  check: (reading: Faults, raw: unknown, path: string) => void,
): void {
  if (!Array.isArray(raw) || raw.length === 0 || raw.length > MAX_TEXTS) {
    return fault(reading, path, 'texts', { max: MAX_TEXTS })
  }
  raw.forEach((item: unknown, index) => check(reading, item, `${path}[${index}]`))
}
