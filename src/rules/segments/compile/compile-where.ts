/** Conditions on one event, tested on the event itself. `windows-sql.ts` has the same conditions for the timeline. */
import type { InterpretedType } from '../../events/facts.ts'
import { compileBooleanTest } from './compile-attribute.ts'
import { compileComparison, comparerWithNumber } from './compare-numbers.ts'
import { compileTextTest } from './compare-texts.ts'
import { neededType } from '../grammar/operators.ts'
import { isPseudoProperty, namesOf, valueAt } from '../reading/property-path.ts'
import type { BooleanOperator, NumberOperator, PropertyCondition, TextOperator } from '../rule.ts'

/** The parts of an event that conditions read. */
export interface SeenEvent {
  /** The value as sent. */
  value: number | null
  /** The currency that the value counts in. */
  currency: string | null
  type: InterpretedType
  /** Parsed JSON; null when none were sent. */
  properties: () => unknown
}

type EventTest = (event: SeenEvent) => boolean

/** Returns a test of whether all conditions are true of an event. */
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

/** A value that does not have the type that the operator needs counts as missing. */
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
