/** A condition: what it reads, its operator, and its value. */
import { useQuery } from '@tanstack/react-query'
import { Badge } from '../../../parts/value/badge.tsx'
import { TextField, SelectField } from '../../../parts/form/field.tsx'
import type { MenuItem } from '../../../parts/overlay/menu.tsx'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { fieldValuesQuery } from '../queries.ts'
import { type Draft, OPEN_TYPES, knownType, shapeOf, subjectOf, textIn, typeOf } from '../condition.ts'
import { setCondition } from '../edit-tree.ts'
import { describeNode, plainText } from '../sentence.ts'
import type { Leaf } from '../tree.ts'
import { issueOf, useEditing } from './editing.ts'
import { countries } from './countries.ts'
import { MetricField, Narrowing } from './event-fields.tsx'
import { FieldPicker, nameOf } from './field-picker.tsx'
import { NodeFrame } from './node-frame.tsx'
import { OperatorField } from './operator-field.tsx'
import styles from './rule-editor.module.css'
import { type Suggestion, ValueField } from './value-field.tsx'

export function ConditionRow({ leaf }: { leaf: Leaf }) {
  const { condition } = leaf
  return subjectOf(condition) === undefined ? (
    <Unreadable leaf={leaf} />
  ) : (
    <Readable leaf={leaf} condition={condition as Draft} />
  )
}

function Readable({ leaf, condition }: { leaf: Leaf; condition: Draft }) {
  const texts = textsOf('segments')
  const { tree, speaker, issues, change } = useEditing()
  const own = issues.get(leaf.id)
  const known = knownType(condition, speaker.fieldTypes)
  const type = typeOf(condition, speaker.fieldTypes)
  const shape = shapeOf(type, condition.operator)
  const suggestions = useSuggestions(condition, shape === 'text')
  const name = nameOf(condition, speaker)
  const reads = subjectOf(condition)?.reads ?? 'attribute'
  const set = (next: Draft, focus?: string) => change(setCondition(tree, leaf, next), focus)
  const isText = shape === 'text' || shape === 'texts'
  const ignoresCase = condition['ignoreCase'] === true
  const extra: MenuItem[] = isText
    ? [
        {
          label: ignoresCase ? texts.mindCase : texts.ignoreCase,
          onSelect: () => set(withCase(condition, !ignoresCase)),
        },
      ]
    : []
  return (
    <NodeFrame node={leaf} name={plainText(describeNode(leaf, speaker))} items={extra} parts={SHOWN_PARTS}>
      <div className={styles['fields']}>
        {leaf.nots % 2 === 1 && <Badge kind="accent">{speaker.words.not}</Badge>}
        <FieldPicker
          label={texts.chooseField}
          focusKey={`${leaf.id}:field`}
          onChoose={(next) => set(next, `${leaf.id}:operator`)}
        >
          <span className={styles['name']}>
            <span className={styles['reads']}>{speaker.words.reads[reads]}</span> <bdi>{name}</bdi>
          </span>
        </FieldPicker>
        {reads === 'event' && <MetricField condition={condition} onChange={set} />}
        <OperatorField
          condition={condition}
          type={type}
          types={known === undefined ? OPEN_TYPES : [known]}
          error={issueOf(own, 'operator')}
          focusKey={`${leaf.id}:operator`}
          onChange={set}
        />
        <ValueField
          key={`${type} ${shape}`}
          shape={shape}
          value={condition.value}
          error={issueOf(own, 'value')}
          suggestions={suggestions}
          hint={condition['attribute'] === 'country' ? texts.countryHint : undefined}
          onChange={(value) => set({ ...condition, value })}
        />
        {(condition['attribute'] === 'revenue' || condition['property'] === 'value') && (
          <CurrencyField condition={condition} error={issueOf(own, 'currency')} onChange={set} />
        )}
        {condition['attribute'] === 'subscribed' && (
          <ChannelField condition={condition} error={issueOf(own, 'channel')} onChange={set} />
        )}
        {condition['attribute'] === 'subscribed' && condition['topic'] !== undefined && (
          <TopicField condition={condition} error={issueOf(own, 'topic')} onChange={set} />
        )}
        {ignoresCase && <Badge>{speaker.words.ignoringCase}</Badge>}
      </div>
      {reads === 'event' && <Narrowing condition={condition} issues={own} onChange={set} />}
    </NodeFrame>
  )
}

/** Parts whose issues are shown at their fields. */
const SHOWN_PARTS = ['operator', 'value', 'currency', 'channel', 'topic', 'property', 'withinDays', 'where']

function withCase({ ignoreCase: _, ...condition }: Draft, ignoreCase: boolean): Draft {
  return ignoreCase ? { ...condition, ignoreCase } : condition
}

/** Returns the most frequent values of a field, which are personal data, or the codes of all countries. */
function useSuggestions(condition: Draft, isText: boolean): readonly Suggestion[] {
  const { businessId } = useEditing()
  const canSee = useCan('contacts:read')
  const key = typeof condition['customField'] === 'string' ? condition['customField'] : ''
  const { data } = useQuery({
    ...fieldValuesQuery(businessId, key),
    enabled: isText && canSee && key !== '',
    retry: false,
  })
  if (isText && condition['attribute'] === 'country') return countries()
  return data?.top ?? []
}

interface PartProps {
  condition: Draft
  error: string | undefined
  onChange: (condition: Draft) => void
}

function CurrencyField({ condition: { currency, ...condition }, error, onChange }: PartProps) {
  const texts = textsOf('segments')
  return (
    <TextField
      name="currency"
      label={texts.currency}
      isLabelHidden
      placeholder={texts.currency}
      value={textIn(currency)}
      maxLength={3}
      size={8}
      autoComplete="off"
      spellCheck={false}
      error={error}
      onChange={({ target: { value } }) => onChange(value === '' ? condition : { ...condition, currency: value })}
    />
  )
}

function ChannelField({ condition, error, onChange }: PartProps) {
  const { channels } = textsOf('segment-rules')
  return (
    <SelectField
      name="channel"
      label={textsOf('segments').channel}
      isLabelHidden
      value={String(condition['channel'])}
      options={Object.entries(channels).map(([value, label]) => ({ value, label }))}
      error={error}
      onChange={(event) => onChange({ ...condition, channel: event.target.value })}
    />
  )
}

/** Without a text, the condition is about the channel. */
function TopicField({ condition: { topic, ...condition }, error, onChange }: PartProps) {
  const { topic: label } = textsOf('segments')
  return (
    <TextField
      name="topic"
      label={label}
      isLabelHidden
      placeholder={label}
      value={textIn(topic)}
      maxLength={64}
      size={16}
      autoComplete="off"
      spellCheck={false}
      error={error}
      onChange={({ target: { value } }) => onChange({ ...condition, ...(value !== '' && { topic: value }) })}
    />
  )
}

/** Pasted JSON that is not a condition. It is shown, and can be moved and removed. */
function Unreadable({ leaf }: { leaf: Leaf }) {
  const { unreadable } = textsOf('segment-rules')
  return (
    <NodeFrame node={leaf} name={unreadable} items={[]} parts={[]}>
      <div className={styles['unreadable']}>
        <span>{unreadable}</span> <code className="foreign">{JSON.stringify(leaf.condition)}</code>
      </div>
    </NodeFrame>
  )
}
