/** Conditions on one event, tested on the event itself. `windows-sql.ts` has them for the timeline. */
import type { InterpretedType } from '../events/facts.ts'
import { compileBooleanTest } from './compile-attribute.ts'
import { compileComparison, comparerWithNumber } from './compare-numbers.ts'
import { compileTextTest } from './compare-texts.ts'
import { neededType } from './needed-type.ts'
import { isPseudoProperty, namesOf, valueAt } from './property-path.ts'
import type { BooleanOperator, NumberOperator, PropertyCondition, TextOperator } from './rule.ts'

/** What conditions read of an event. */
export interface SeenEvent {
  /** As sent. */
  value: number | null
  /** The one that it counts in. */
  currency: string | null
  type: InterpretedType
  /** Parsed JSON; null when none were sent. */
  properties: () => unknown
}

type EventTest = (event: SeenEvent) => boolean

/** Whether all conditions are true of an event. */
export function compileWhere(where: readonly PropertyCondition[]): EventTest {
  const tests = where.map(compileProperty)
  return (event) => tests.every((test) => test(event))
}

function compileProperty(condition: PropertyCondition): EventTest {
  const { property, operator } = condition
  const read = readerOf(property)
  if (operator === 'exists') return (event) => read(event) !== undefined
  if (operator === 'not_exists') return (event) => read(event) === undefined
  const fits = compileFits(condition)
  return (event) => fits(read(event))
}

function readerOf(property: string): (event: SeenEvent) => unknown {
  if (isPseudoProperty(property)) return (event) => event[property] ?? undefined
  const names = namesOf(property)
  return (event) => valueAt(event.properties(), names)
}

/** A value of another type than the operator needs is as none. */
function compileFits({ operator, value, ignoreCase }: PropertyCondition): (found: unknown) => boolean {
  switch (neededType({ operator, value })) {
    case 'Number': {
      const fits = compileComparison(operator as NumberOperator, value, comparerWithNumber)
      return (found) => typeof found === 'number' && fits(found)
    }
    case 'Boolean': {
      const fits = compileBooleanTest(operator as BooleanOperator)
      return (found) => typeof found === 'boolean' && fits(found)
    }
    default: {
      const fits = compileTextTest(operator as TextOperator, value, ignoreCase)
      return (found) => typeof found === 'string' && fits(found)
    }
  }
}
