/**
 * A campaign while a person edits it: JSON in the format of the API. Fields that the person does not edit stay as they
 * are. Steps are addressed by the paths that the server uses in its issues, such as `steps[0].otherwise[1]`.
 */

import { type StepType, fieldsOf } from '../../../../../rules/campaigns/steps.ts'
import { sentListsIn } from '../../../../../rules/campaigns/walk-steps.ts'
import { type NestedLists, type Place, insertAt, moveItem, removeAt } from '../../../parts/form/nested-list.ts'
import type { BodyOf, DataOf } from '../../../data-of.ts'

/** While a person edits it, a field may have any value: the server checks it. */
export type Json = Record<string, unknown>
type Campaign = DataOf<'/dashboard/api/b/{businessId}/campaigns/{campaignId}'>['campaign']
export type CampaignBody = BodyOf<'/dashboard/api/b/{businessId}/campaigns', 'post'>
type Key = string | number

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const keysOf = (path: string): Key[] =>
  path
    .split(/[.[\]]+/)
    .filter((key) => key !== '')
    .map((key) => (/^\d+$/.test(key) ? Number(key) : key))

export const getAt = (value: unknown, path: string): unknown =>
  keysOf(path).reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? (inner as Record<Key, unknown>)[key] : undefined),
    value,
  )

/** `next` undefined removes the field. Values on the path that are not objects or lists are replaced. */
export const setAt = (value: Json, path: string, next: unknown): Json => setKeys(value, keysOf(path), next) as Json

function setKeys(value: unknown, [key, ...rest]: Key[], next: unknown): unknown {
  if (key === undefined) return next
  const inner = setKeys(getAt(value, String(key)), rest, next)
  if (typeof key === 'number') {
    const list: unknown[] = Array.isArray(value) ? value : []
    return inner === undefined ? list.toSpliced(key, 1) : Object.assign([...list], { [key]: inner })
  }
  const object = isObject(value) ? value : {}
  if (inner !== undefined) return { ...object, [key]: inner }
  const { [key]: _, ...others } = object
  return others
}

export function listAt(value: unknown, path: string): unknown[] {
  const list = getAt(value, path)
  return Array.isArray(list) ? list : []
}

/** Returns the paths of the lists inside a step, relative to the step. Unknown types of steps have none. */
export const listsOf = (step: unknown): string[] => sentListsIn(step).map(({ path }) => path)

/** Of a step: the path of its list, and its index there. */
type StepPlace = Place<string>

export function placeOf(path: string): StepPlace {
  const [, list = '', at] = /^(.*)\[(\d+)\]$/.exec(path) ?? []
  return { list, at: Number(at) }
}

const pathOf = ({ list, at }: StepPlace): string => `${list}[${at}]`

const STEPS: NestedLists<Json, string, unknown> = {
  itemsOf: listAt,
  listsIn(value, place) {
    const path = pathOf(place)
    return listsOf(getAt(value, path)).map((inner) => `${path}.${inner}`)
  },
  around(_, list) {
    const [, path] = /^(.*(?:steps|otherwise)\[\d+\])\./.exec(list) ?? []
    return path === undefined ? undefined : placeOf(path)
  },
  withItems: setAt,
}

export const insertStep = (value: Json, place: StepPlace, step: unknown): Json => insertAt(STEPS, value, place, step)

export const removeStep = (value: Json, path: string): Json => removeAt(STEPS, value, placeOf(path))

/** Inserts a copy after the step. The copy has no IDs: the server creates them. */
export function duplicateStep(value: Json, path: string): Json {
  const { list, at } = placeOf(path)
  return insertStep(value, { list, at: at + 1 }, withoutIds(getAt(value, path)))
}

function withoutIds(step: unknown): unknown {
  if (!isObject(step)) return step
  const { id: _, ...copy } = step
  return listsOf(copy).reduce<Json>((inner, list) => {
    const steps = getAt(inner, list)
    return Array.isArray(steps) ? setAt(inner, list, steps.map(withoutIds)) : inner
  }, copy)
}

/** Moves a step by one place in reading order. Returns the same value when there is no such place. */
export function moveStep(value: Json, path: string, direction: 'up' | 'down'): { value: Json; path: string } {
  const moved = moveItem(STEPS, value, placeOf(path), direction)
  return moved === undefined ? { value, path } : { value: moved.value, path: pathOf(moved.place) }
}

export function newStep(type: StepType): Json {
  const fields = fieldsOf(type).map(([name, field]) => [name, field.initial ?? field.default] as const)
  return { type, ...Object.fromEntries(fields.filter(([, value]) => value !== undefined)) }
}

/** Returns the fields that a person edits and that a change may contain. */
export function editedFieldsOf(campaign: Campaign): CampaignBody {
  const { campaignId: _, status: _status, version: _version, ...fields } = campaign
  return fields
}

export const newCampaign = (): CampaignBody => ({ name: '', trigger: { event: '' }, steps: [] })
