/** Checks the value that an operator compares with. */
import { STAGES } from '../../events/journey-stage.ts'
import { readIso } from '../../events/read-iso.ts'
import { isClean } from '../../events/text.ts'
import { comparerWithDecimal } from '../decimals.ts'
import { type Faults, fault, readOneOf } from './reading.ts'
import {
  BOOLEAN_OPERATORS,
  DATE_OPERATORS,
  NUMBER_OPERATORS,
  type RuleNumber,
  STAGE_OPERATORS,
  TEXT_OPERATORS,
} from '../rule.ts'

export type ValueType = 'date' | 'number' | 'text' | 'boolean' | 'stage'

export const OPERATORS: Record<ValueType, readonly string[]> = {
  date: DATE_OPERATORS,
  number: NUMBER_OPERATORS,
  text: TEXT_OPERATORS,
  boolean: BOOLEAN_OPERATORS,
  stage: STAGE_OPERATORS,
}

/** The kind of value that an operator compares with. */
export type Operand = 'nothing' | 'days' | 'instant' | 'number' | 'range' | 'text' | 'texts' | 'stage' | 'stages'

const MAX_DAYS = 36_500
const MAX_TEXT = 4096
const MAX_TEXTS = 500
/** Longer than any sum of amounts. */
const MAX_DECIMAL = 64
const DECIMAL = /^-?\d+(\.\d+)?$/

export function operandOf(type: ValueType, operator: string): Operand {
  if (operator === 'exists' || operator === 'not_exists' || type === 'boolean') return 'nothing'
  switch (type) {
    case 'date':
      return operator === 'before' || operator === 'after' ? 'instant' : 'days'
    case 'number':
      return operator === 'between' ? 'range' : 'number'
    case 'text':
      return operator === 'in' ? 'texts' : 'text'
    case 'stage':
      return operator === 'in' ? 'stages' : 'stage'
  }
}

/** @param takesDecimals whether a number may also be a decimal string */
export function checkValue(
  reading: Faults,
  raw: unknown,
  path: string,
  operand: Exclude<Operand, 'nothing'>,
  takesDecimals: boolean,
): void {
  switch (operand) {
    case 'days':
      return checkDays(reading, raw, path)
    case 'instant':
      if (typeof raw !== 'string' || readIso(raw) === undefined) {
        fault(reading, path, 'real_instant')
      }
      return
    case 'number':
      if (!isNumber(raw, takesDecimals)) fault(reading, path, takesDecimals ? 'decimal' : 'plain_number')
      return
    case 'range':
      return checkRange(reading, raw, path, takesDecimals)
    case 'text':
      return checkText(reading, raw, path)
    case 'stage':
      return checkStage(reading, raw, path)
    case 'texts':
      return checkList(reading, raw, path, checkText)
    case 'stages':
      return checkList(reading, raw, path, checkStage)
  }
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
