/** Fields that only conditions on events have: first, last, how often, and within which limits. */
import { MAX_WHERE } from '../../../../../rules/segments/grammar/limits.ts'
import type { ValueType } from '../../../../../rules/segments/grammar/operators.ts'
import { Button } from '../../../parts/action/button.tsx'
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import { textsOf } from '../../../texts/index.ts'
import { type Draft, PROPERTY_TYPES, guessType, shapeOf, textIn, whereOf } from '../condition.ts'
import { type PlacedIssue } from '../place-issues.ts'
import { METRICS, type Metric, firstCondition, withMetric } from '../value.ts'
import { issueOf } from './editing.ts'
import { OperatorField } from './operator-field.tsx'
import styles from './rule-editor.module.css'
import { NumberField, ValueField } from './value-field.tsx'

interface MetricProps {
  condition: Draft
  onChange: (condition: Draft) => void
}

export function MetricField({ condition, onChange }: MetricProps) {
  const { metrics } = textsOf('segment-rules')
  return (
    <SelectField
      name="metric"
      label={textsOf('segments').metric}
      isLabelHidden
      value={String(condition['metric'])}
      options={METRICS.map((metric) => ({ value: metric, label: metrics[metric] }))}
      onChange={(event) => onChange(withMetric(condition, event.target.value as Metric))}
    />
  )
}

type NarrowingProps = MetricProps & { issues: readonly PlacedIssue[] | undefined }

/** For counts and sums: the last days, and properties of the event. */
export function Narrowing({ condition, issues, onChange }: NarrowingProps) {
  const texts = textsOf('segments')
  const { metric, withinDays } = condition
  const where = whereOf(condition)
  if (metric !== 'count' && metric !== 'sum') return null
  const setWhere = (next: Draft[]) =>
    onChange(next.length === 0 ? without(condition, 'where') : { ...condition, where: next })
  return (
    <div className={styles['narrowing']}>
      {metric === 'sum' && (
        <TextField
          name="property"
          label={texts.property}
          value={textIn(condition['property'])}
          hint={texts.propertyHint}
          error={issueOf(issues, 'property')}
          dir="auto"
          spellCheck={false}
          onChange={(event) => onChange({ ...condition, property: event.target.value })}
        />
      )}
      {withinDays !== undefined && (
        <div className={styles['clause']}>
          <NumberField
            name="withinDays"
            label={texts.within}
            value={withinDays}
            error={issueOf(issues, 'withinDays')}
            onChange={(next) => onChange({ ...condition, withinDays: next })}
          />
          <Button
            kind="quiet"
            icon="close"
            aria-label={texts.dropWithin}
            onClick={() => onChange(without(condition, 'withinDays'))}
          />
        </div>
      )}
      {where.map((one, at) => (
        <PropertyRow
          key={at}
          condition={one}
          issues={issues}
          path={`where[${at}]`}
          onChange={(next) => setWhere(where.with(at, next))}
          onRemove={() => setWhere(where.toSpliced(at, 1))}
        />
      ))}
      <div className={styles['adders']}>
        {withinDays === undefined && (
          <Button kind="quiet" size="small" icon="plus" onClick={() => onChange({ ...condition, withinDays: 30 })}>
            {texts.addWithin}
          </Button>
        )}
        {where.length < MAX_WHERE && (
          <Button
            kind="quiet"
            size="small"
            icon="plus"
            onClick={() => setWhere([...where, { property: '', operator: 'equals', value: '' }])}
          >
            {texts.addWhere}
          </Button>
        )}
      </div>
    </div>
  )
}

const without = (condition: Draft, key: string): Draft =>
  Object.fromEntries(Object.entries(condition).filter(([name]) => name !== key))

/** A property that is chosen from a list instead of being typed. */
export interface NamedProperty {
  value: string
  label: string
  type: 'text' | 'number'
}

interface PropertyRowProps {
  condition: Draft
  issues: readonly PlacedIssue[] | undefined
  path: string
  /** Undefined: any property. */
  properties?: readonly NamedProperty[] | undefined
  onChange: (condition: Draft) => void
  onRemove: () => void
}

export function PropertyRow({ condition, issues, path, properties, onChange, onRemove }: PropertyRowProps) {
  const texts = textsOf('segments')
  const known = properties?.find(({ value }) => value === condition['property'])?.type
  const type = known ?? guessType(condition)
  const shape = shapeOf(type, condition.operator)
  return (
    <div className={styles['clause']} role="group" aria-label={texts.addWhere}>
      {properties === undefined ? (
        <TextField
          name="property"
          label={texts.property}
          isLabelHidden
          placeholder={texts.property}
          value={textIn(condition['property'])}
          error={issueOf(issues, `${path}.property`)}
          dir="auto"
          spellCheck={false}
          onChange={(event) => onChange({ ...condition, property: event.target.value })}
        />
      ) : (
        <PropertyChoice
          condition={condition}
          type={type}
          properties={properties}
          error={issueOf(issues, `${path}.property`)}
          onChange={onChange}
        />
      )}
      <OperatorField
        condition={condition}
        type={type}
        types={known === undefined ? PROPERTY_TYPES : [known]}
        error={issueOf(issues, `${path}.operator`)}
        onChange={onChange}
      />
      <ValueField
        key={`${type} ${shape}`}
        shape={shape}
        value={condition.value}
        error={issueOf(issues, `${path}.value`)}
        onChange={(value) => onChange({ ...condition, value })}
      />
      <Button kind="quiet" icon="close" aria-label={texts.dropWhere} onClick={onRemove} />
    </div>
  )
}

interface PropertyChoiceProps {
  condition: Draft
  type: ValueType
  properties: readonly NamedProperty[]
  error: string | undefined
  onChange: (condition: Draft) => void
}

function PropertyChoice({ condition, type, properties, error, onChange }: PropertyChoiceProps) {
  const chosen = textIn(condition['property'])
  const isListed = properties.some(({ value }) => value === chosen)
  return (
    <SelectField
      name="property"
      label={textsOf('segments').property}
      isLabelHidden
      value={chosen}
      options={[...(isListed ? [] : [{ value: chosen, label: chosen }]), ...properties]}
      error={error}
      onChange={({ target: { value: property } }) => {
        const next = properties.find(({ value }) => value === property)?.type ?? type
        onChange(next === type ? { ...condition, property } : firstCondition({ property }, next))
      }}
    />
  )
}
