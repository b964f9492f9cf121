/** Chooses the operator of a condition. When the type of a value is unknown, the operators of all types are offered. */
import type { ValueType } from '../../../../../rules/segments/grammar/operators.ts'
import { type Option, SelectField } from '../../../parts/form/field.tsx'
import { textsOf } from '../../../texts/index.ts'
import { type Draft, operatorsOf } from '../condition.ts'
import { operatorLabel } from '../sentence.ts'
import { withOperator } from '../value.ts'

interface OperatorFieldProps {
  condition: Draft
  type: ValueType
  /** Types to choose from. Several are shown under headings. */
  types: readonly ValueType[]
  error: string | undefined
  onChange: (condition: Draft) => void
  focusKey?: string
}

export function OperatorField({ condition, type, types, error, onChange, focusKey }: OperatorFieldProps) {
  const words = textsOf('segment-rules')
  // Omit the gap: the value field follows the operator.
  const labelOf = (operator: unknown, of: ValueType) =>
    operatorLabel(words, { ...condition, operator }, of).replace(/ …$/, '')
  const options = types.flatMap((of): Option[] =>
    operatorsOf(of, condition).map((operator) => ({
      value: `${of} ${operator}`,
      label: labelOf(operator, of),
      ...(types.length > 1 && { group: words.types[of as keyof typeof words.types] }),
    })),
  )
  const chosen = `${type} ${String(condition.operator)}`
  // The type of the field has changed. The operator is shown unchanged until the person changes it.
  const isUnsuitable = !options.some(({ value }) => value === chosen)
  const shown = isUnsuitable ? [{ value: chosen, label: labelOf(condition.operator, type) }, ...options] : options
  return (
    <SelectField
      name="operator"
      label={textsOf('segments').operator}
      isLabelHidden
      value={chosen}
      options={shown}
      error={error}
      data-focus={focusKey}
      onChange={(event) => {
        const [of, operator] = event.target.value.split(' ') as [ValueType, string]
        onChange(withOperator(condition, type, of, operator))
      }}
    />
  )
}
