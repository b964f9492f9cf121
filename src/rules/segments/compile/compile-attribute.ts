import type { IdentityKind } from '../../events/facts.ts'
import { STAGES } from '../../events/journey-stage.ts'
import { compileDateTest } from './compare-dates.ts'
import { compileComparison, comparerWithNumber } from './compare-numbers.ts'
import { compileStageTest } from './compare-stages.ts'
import { compileTextTest } from './compare-texts.ts'
import { type CompiledCondition, asItIs, conditionOn, conditionOnDate } from './compiled-condition.ts'
import { comparerWithDecimal } from '../decimals.ts'
import type { SegmentFacts } from '../membership/facts.ts'
import { channelOf, currencyOf } from '../membership/reads-of.ts'
import { isChosen, topicChannel } from '../../topics/topic.ts'
import type {
  AttributeCondition,
  BooleanOperator,
  DateOperator,
  NumberOperator,
  StageOperator,
  TextOperator,
} from '../rule.ts'

/** Compiles a condition on an attribute. A checked rule has an operator of the attribute's type. */
export function compileAttribute(condition: AttributeCondition): CompiledCondition {
  const { attribute, operator, value } = condition
  switch (attribute) {
    case 'createdAt': {
      const date = compileDateTest(operator as DateOperator, value, false)
      return conditionOnDate((facts) => facts.createdAt, operator, date)
    }
    case 'stage':
      return conditionOn(
        (facts) => facts.stage,
        operator,
        compileStageTest(operator as StageOperator, value),
        showStage,
      )
    case 'orderCount': {
      const fits = compileComparison(operator as NumberOperator, value, comparerWithNumber)
      return conditionOn((facts) => facts.orderCount, operator, fits, asItIs)
    }
    case 'revenue': {
      const currency = currencyOf(condition)
      const fits = compileComparison(operator as NumberOperator, value, comparerWithDecimal)
      return conditionOn((facts) => facts.revenue.get(currency), operator, fits, Number)
    }
    case 'subscribed': {
      const channel = channelOf(condition)
      const { topic, topicDefault = false } = condition
      const name = topic === undefined ? null : topicChannel(topic, channel)
      const read = (facts: SegmentFacts) =>
        facts.subscriptions[channel]?.subscribed === true &&
        (name === null || isChosen(facts.topics[name], topicDefault))
      return conditionOn(read, operator, compileBooleanTest(operator as BooleanOperator), asItIs)
    }
    case 'email':
    case 'phone':
    case 'platformCustomerId':
      return compileIdentity(condition, attribute)
    default: {
      const fits = compileTextTest(operator as TextOperator, value, condition.ignoreCase)
      return conditionOn((facts) => facts.profile[attribute], operator, fits, asItIs)
    }
  }
}

const showStage = (stage: number): string => STAGES[stage] ?? String(stage)

export const compileBooleanTest = (operator: BooleanOperator): ((value: boolean) => boolean) => BOOLEANS[operator]

const BOOLEANS: Record<BooleanOperator, (value: boolean) => boolean> = {
  exists: () => true,
  not_exists: () => false,
  is_true: (value) => value,
  is_false: (value) => !value,
}

/** Any value of the kind may match; for `not_equals`, all values must differ. */
function compileIdentity({ operator, value, ignoreCase }: AttributeCondition, kind: IdentityKind): CompiledCondition {
  const fits = compileTextTest(operator as TextOperator, value, ignoreCase)
  const fitAll =
    operator === 'not_equals' ? (texts: string[]) => texts.every(fits) : (texts: string[]) => texts.some(fits)
  return conditionOn((facts) => valuesOf(facts, kind), operator, fitAll, asItIs)
}

function valuesOf({ identities }: SegmentFacts, kind: IdentityKind): string[] | undefined {
  let values: string[] | undefined
  for (const identity of identities) if (identity.kind === kind) (values ??= []).push(identity.value)
  return values
}
