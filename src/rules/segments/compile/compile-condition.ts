import type { FieldType } from '../../events/facts.ts'
import { compileAttribute, compileBooleanTest } from './compile-attribute.ts'
import { compileDateTest } from './compare-dates.ts'
import { compileComparison, comparerWithNumber } from './compare-numbers.ts'
import { compileTextTest } from './compare-texts.ts'
import { type CompiledCondition, asItIs, conditionOn, conditionOnDate } from './compiled-condition.ts'
import { isWindowed } from '../condition-kinds.ts'
import { comparerWithDecimal } from '../decimals.ts'
import { neededType } from '../grammar/operators.ts'
import { fieldReader, typedFieldReader } from '../reading/read-field.ts'
import type {
  BooleanOperator,
  CustomFieldCondition,
  DateOperator,
  EventCountCondition,
  EventTimeCondition,
  NumberOperator,
  ResolvedFactCondition,
  TagCondition,
  TextOperator,
  WindowedCondition,
} from '../rule.ts'
import { windowKey } from '../windows/window-key.ts'

type FieldTypes = ReadonlyMap<string, FieldType>

export function compileCondition(condition: ResolvedFactCondition, fields: FieldTypes): CompiledCondition {
  if ('event' in condition) return isWindowed(condition) ? compileWindowed(condition) : compileEvent(condition)
  if ('customField' in condition) return compileField(condition, fields)
  return 'tag' in condition ? compileTag(condition) : compileAttribute(condition)
}

function compileEvent(condition: EventTimeCondition | EventCountCondition): CompiledCondition {
  const { event, operator, value } = condition
  if (condition.metric === 'count') {
    const fits = compileComparison(condition.operator, value, comparerWithNumber)
    return conditionOn((facts) => facts.statistics.get(event)?.count, operator, fits, asItIs)
  }
  const time = condition.metric === 'last' ? 'lastAt' : 'firstAt'
  const date = compileDateTest(condition.operator, value, false)
  return conditionOnDate((facts) => facts.statistics.get(event)?.[time], operator, date)
}

function compileWindowed(condition: WindowedCondition): CompiledCondition {
  const key = windowKey(condition)
  const fits = compileComparison(condition.operator, condition.value, comparerWithDecimal)
  return conditionOn((facts) => facts.windows.get(key), condition.operator, fits, Number)
}

function compileTag({ tag, operator }: TagCondition): CompiledCondition {
  const has = operator === 'has'
  return {
    test: (facts) => facts.tags.has(tag) === has,
    seen: (facts) => facts.tags.has(tag),
    changes: null,
  }
}

function compileField(condition: CustomFieldCondition, fields: FieldTypes): CompiledCondition {
  const { customField: key, operator, value, ignoreCase } = condition
  const type = neededType(condition)
  switch (type) {
    case null:
      return conditionOn(fieldReader(key, fields), operator, () => operator === 'exists', asItIs)
    case 'Number': {
      const fits = compileComparison(operator as NumberOperator, value, comparerWithNumber)
      return conditionOn(typedFieldReader(key, type, fields), operator, fits, asItIs)
    }
    case 'Text': {
      const fits = compileTextTest(operator as TextOperator, value, ignoreCase)
      return conditionOn(typedFieldReader(key, type, fields), operator, fits, asItIs)
    }
    case 'Boolean': {
      const fits = compileBooleanTest(operator as BooleanOperator)
      return conditionOn(typedFieldReader(key, type, fields), operator, fits, asItIs)
    }
    case 'Date': {
      const date = compileDateTest(operator as DateOperator, value, true)
      return conditionOnDate(typedFieldReader(key, type, fields), operator, date)
    }
  }
}
