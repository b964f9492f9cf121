import { type Operand, type ValueType, operatorsOf, rowOf } from '../grammar/operators.ts'
import { checkValue } from './read-value.ts'
import { type Faults, type RawObject, checkWords, fault, readOneOf, wordOf } from './reading.ts'

export interface Operation {
  type: ValueType
  /** Default: those of the type, without those of custom fields. */
  operators?: readonly string[]
  /** True when numbers may also be decimal strings. */
  takesDecimals?: boolean
}

/** Checks the operator of a condition and its value, and rejects keys other than `words` and those of the operator. */
export function checkOperation(
  reading: Faults,
  raw: RawObject,
  path: string,
  words: readonly string[],
  { type, operators = operatorsOf(type), takesDecimals = false }: Operation,
): void {
  const operator = readOneOf(reading, wordOf(raw, 'operator'), `${path}.operator`, operators)
  // It is unknown which keys belong to an unknown operator.
  if (operator === undefined) return checkWords(reading, raw, path, [...words, 'operator', 'value', 'ignoreCase'])
  const operand = rowOf(type, operator)?.operand ?? 'none'
  checkWords(reading, raw, path, [...words, 'operator', ...wordsOf(operand)])
  if (operand === 'none') return
  checkValue(reading, wordOf(raw, 'value'), `${path}.value`, operand, takesDecimals)
  const ignoreCase = wordOf(raw, 'ignoreCase') ?? false
  if (wordsOf(operand).includes('ignoreCase') && typeof ignoreCase !== 'boolean') {
    fault(reading, `${path}.ignoreCase`, 'boolean')
  }
}

function wordsOf(operand: Operand): string[] {
  if (operand === 'none') return []
  return operand === 'text' || operand === 'texts' ? ['value', 'ignoreCase'] : ['value']
}
