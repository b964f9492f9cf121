import { columnOf as profileColumnOf } from '../../contacts/profile-columns.ts'
import type { IdentityKind } from '../../rules/events/facts.ts'
import { STAGES } from '../../rules/events/journey-stage.ts'
import { compileStageTest } from '../../rules/segments/compile/compare-stages.ts'
import { channelOf, currencyOf } from '../../rules/segments/membership/reads-of.ts'
import type {
  AttributeCondition,
  BooleanOperator,
  DateOperator,
  NumberOperator,
  StageOperator,
  TextOperator,
} from '../../rules/segments/rule.ts'
import { topicChannel } from '../../rules/topics/topic.ts'
import { textLiteral } from '../../stores/clickhouse-literal.ts'
import { conditionSql, dateSql, decimalSql, numberSql, textSql } from './compare-sql.ts'
import { booleanSql } from './json-sql.ts'
import { columnOf, type Sources } from './sources.ts'

/** Decimal places of amounts. */
const AMOUNT_SCALE = 6

export function attributeSql(
  condition: AttributeCondition,
  { sources, now }: { sources: Sources; now: number },
): string {
  const { attribute, operator } = condition
  switch (attribute) {
    case 'createdAt': {
      const at = columnOf(sources, 'created_ms')
      return definedSql(operator, dateSql(at, operator as DateOperator, condition, { now, mayBeAhead: false }))
    }
    case 'stage':
      return `${columnOf(sources, 'stage')} in (${stageNames(condition).map(textLiteral).join(', ')})`
    case 'orderCount': {
      const count = `toFloat64(${columnOf(sources, 'order_count')})`
      return definedSql(operator, numberSql(count, operator as NumberOperator, condition))
    }
    case 'revenue':
      return revenueSql(condition, sources)
    case 'subscribed': {
      const is = `has(${columnOf(sources, 'subscribed')}, ${textLiteral(channelOf(condition))})`
      const { topic } = condition
      const both = topic === undefined ? is : `${is} and ${topicSql(condition, topic, sources)}`
      return booleanSql(both, operator as BooleanOperator)
    }
    case 'email':
    case 'phone':
    case 'platformCustomerId':
      return identitySql(condition, attribute, sources)
    default: {
      const text = columnOf(sources, profileColumnOf(attribute))
      return conditionSql(
        `isNotNull(${text})`,
        operator,
        textSql(`assumeNotNull(${text})`, operator as TextOperator, condition),
      )
    }
  }
}

/** For a value that is never undefined. */
const definedSql = (operator: string, test: string): string => conditionSql('1', operator, test)

function stageNames({ operator, value }: AttributeCondition): string[] {
  const fits = compileStageTest(operator as StageOperator, value)
  return STAGES.filter((_, stage) => fits(stage))
}

function revenueSql(condition: AttributeCondition, sources: Sources): string {
  const amounts = columnOf(sources, 'revenue')
  const currency = textLiteral(currencyOf(condition))
  const test = decimalSql(`${amounts}[${currency}]`, AMOUNT_SCALE, condition.operator as NumberOperator, condition)
  return conditionSql(`mapContains(${amounts}, ${currency})`, condition.operator, test)
}

function topicSql(condition: AttributeCondition, topic: string, sources: Sources): string {
  const choices = columnOf(sources, 'topics')
  const name = textLiteral(topicChannel(topic, channelOf(condition)))
  return `if(mapContains(${choices}, ${name}), ${choices}[${name}], ${condition.topicDefault === true})`
}

/** Any value of a kind may match; for `not_equals`, all must differ. */
function identitySql(condition: AttributeCondition, kind: IdentityKind, sources: Sources): string {
  const values = columnOf(sources, ...IDENTITIES[kind])
  const every = condition.operator === 'not_equals' ? 'arrayAll' : 'arrayExists'
  const fits = textSql('one', condition.operator as TextOperator, condition)
  return conditionSql(`notEmpty(${values})`, condition.operator, `${every}(one -> ${fits}, ${values})`)
}

/** Snapshots store phones with a plus sign, which rules do not see. */
const IDENTITIES: Record<IdentityKind, [name: string, expression: string]> = {
  email: ['emails', 'emails'],
  phone: ['phone_digits', `arrayMap(one -> trim(leading '+' from one), phones)`],
  platformCustomerId: ['platform_customer_ids', 'platform_customer_ids'],
}
