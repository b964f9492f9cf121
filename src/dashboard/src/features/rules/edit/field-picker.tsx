/**
 * Chooses what a condition reads: attributes, custom fields, tags, events and segments, or a name that is not known
 * yet.
 */
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo, useState } from 'react'
import { Picker } from '../../../parts/overlay/picker.tsx'
import type { SearchGroup, SearchOption } from '../../../parts/list/search-list.tsx'
import { useLate } from '../../../parts/action/use-late.ts'
import type { IconName } from '../../../parts/value/icon-shapes.ts'
import { textsOf } from '../../../texts/index.ts'
import { type Field, type FieldGroup, fieldsQuery } from '../queries.ts'
import { type Draft, subjectOf } from '../condition.ts'
import { typeOf } from '../condition.ts'
import { entryOf } from '../entry-of.ts'
import type { Speaker, Words } from '../sentence.ts'
import { firstCondition } from '../value.ts'
import { useEditing } from './editing.ts'

interface FieldPickerProps {
  children: ReactNode
  label: string
  focusKey: string
  icon?: IconName
  size?: 'normal' | 'small'
  /** Called with a condition that has its first operator and value. */
  onChoose: (condition: Draft) => void
}

interface FieldOption extends SearchOption {
  start: Draft
}

const PAUSE_MS = 150
/** Most fields of a group that are shown. The person finds the others by typing. */
const MAX_SHOWN = 40

export function FieldPicker({ onChoose, ...rest }: FieldPickerProps) {
  const texts = textsOf('segments')
  const { businessId, speaker } = useEditing()
  const [wanted, setWanted] = useState('')
  const asked = useLate(wanted.trim(), PAUSE_MS)
  const all = useQuery(fieldsQuery(businessId, ''))
  const found = useQuery({ ...fieldsQuery(businessId, asked), enabled: asked !== '' })
  // Results for earlier text are not an answer to this one.
  const isCurrent = asked !== '' && asked === wanted.trim() && !found.isPlaceholderData
  const groups = useMemo(
    () => groupsOf(all.data?.groups ?? [], isCurrent ? (found.data?.groups ?? []) : [], wanted.trim(), speaker),
    [all.data, found.data, isCurrent, wanted, speaker],
  )
  return (
    <Picker
      {...rest}
      placeholder={texts.findField}
      wanted={wanted}
      onSearch={setWanted}
      groups={groups}
      isLoading={all.isPending || found.isFetching}
      onChoose={({ start }) => onChoose(firstCondition(start, typeOf(start, speaker.fieldTypes)))}
    />
  )
}

type Groups = SearchGroup<FieldOption>[]

/**
 * Loaded fields are matched immediately, by their names in the language of the page. Fields that the server finds are
 * added.
 */
function groupsOf(all: FieldGroup[], found: FieldGroup[], wanted: string, speaker: Speaker): Groups {
  const names = [...new Set([...all, ...found].map(({ group }) => group))]
  const groups = names.map((name) => {
    const here = optionsOf(all, name, speaker).filter((option) => isMatch(option, wanted))
    const known = new Set(here.map(({ key }) => key))
    const more = optionsOf(found, name, speaker).filter(({ key }) => !known.has(key))
    const options = [...here, ...more]
    return { title: speaker.words.groups[name], options: options.slice(0, MAX_SHOWN) }
  })
  return wanted === '' ? groups : [...groups, newNames(groups, wanted, speaker.words)]
}

/** An event has several fields but is listed once. */
function optionsOf(groups: FieldGroup[], name: FieldGroup['group'], speaker: Speaker): FieldOption[] {
  const fields = groups.filter(({ group }) => group === name).flatMap((group) => group.fields)
  const options = fields.map((field) => optionOf(field, speaker))
  return [...new Map(options.map((option) => [option.key, option])).values()]
}

function optionOf({ path, label, condition }: Field, speaker: Speaker): FieldOption {
  const { event } = condition
  if (typeof event === 'string') return { key: `event ${event}`, label: event, start: { event, metric: 'count' } }
  return { key: path, label: nameOf(condition, speaker, label), start: condition }
}

/** Returns the name of a field in the language of the page. */
export function nameOf(condition: Draft, { words, nameOfSegment }: Speaker, label?: string): string {
  const { reads, name = '' } = subjectOf(condition) ?? {}
  if (reads === 'segment') return nameOfSegment(name) ?? label ?? words.deleted
  if (reads !== 'attribute') return name
  const channel = entryOf(words.channels, condition['channel'])
  const attribute = entryOf(words.attributes, name) ?? label ?? name
  return channel === undefined ? attribute : `${attribute}: ${channel}`
}

const isMatch = ({ label, key }: FieldOption, wanted: string): boolean =>
  wanted
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => `${label} ${key}`.toLocaleLowerCase().includes(word))

/** A rule may use names that no event has had yet. */
function newNames(groups: Groups, wanted: string, words: Words): Groups[number] {
  const known = new Set(groups.flatMap(({ options }) => options.map(({ key }) => key)))
  const offers: FieldOption[] = [
    { key: `event ${wanted}`, label: wanted, detail: words.reads.event, start: { event: wanted, metric: 'count' } },
    { key: `tag.${wanted}`, label: wanted, detail: words.reads.tag, start: { tag: wanted } },
    {
      key: `customField.${wanted}`,
      label: wanted,
      detail: words.reads.customField,
      start: { customField: wanted },
    },
  ]
  return { title: textsOf('segments').useName, options: offers.filter(({ key }) => !known.has(key)) }
}
