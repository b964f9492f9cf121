/**
 * A campaign while a person edits it: JSON in the format of the API. Fields that the person does not edit stay as they
 * are. Steps are addressed by the paths that the server uses in its issues, such as `steps[0].otherwise[1]`.
 */

import { type StepType, fieldsOf } from '../../../../../rules/campaigns/steps.ts'
import { sentListsIn } from '../../../../../rules/campaigns/walk-steps.ts'
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

export interface Place {
  /** Path of the list. */
  list: string
  at: number
}

export function placeOf(path: string): Place {
  const [, list = '', at] = /^(.*)\[(\d+)\]$/.exec(path) ?? []
  return { list, at: Number(at) }
}

const pathOf = ({ list, at }: Place): string => `${list}[${at}]`

/** Returns the step around a list, and which of its lists it is. Undefined for the outermost list. */
function stepAround(list: string): { path: string; inner: string } | undefined {
  const [, path, inner] = /^(.*(?:steps|otherwise)\[\d+\])\.(.*)$/.exec(list) ?? []
  return path === undefined || inner === undefined ? undefined : { path, inner }
}

export const insertStep = (value: Json, { list, at }: Place, step: unknown): Json =>
  setAt(value, list, listAt(value, list).toSpliced(at, 0, step))

export function removeStep(value: Json, path: string): Json {
  const { list, at } = placeOf(path)
  return setAt(value, list, listAt(value, list).toSpliced(at, 1))
}

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

/**
 * Moves a step by one place in reading order: past a step, into its lists, from one list to the next, or out of them.
 * Returns the same value when there is no such place.
 */
export function moveStep(value: Json, path: string, direction: 'up' | 'down'): { value: Json; path: string } {
  const to = direction === 'up' ? placeAbove(value, placeOf(path)) : placeBelow(value, placeOf(path))
  if (to === undefined) return { value, path }
  return { value: insertStep(removeStep(value, path), to, getAt(value, path)), path: pathOf(to) }
}

/** Steps above keep their paths when this step is removed. */
function placeAbove(value: Json, { list, at }: Place): Place | undefined {
  if (at > 0) {
    const above = pathOf({ list, at: at - 1 })
    const last = listsOf(getAt(value, above)).at(-1)
    if (last === undefined) return { list, at: at - 1 }
    const inner = `${above}.${last}`
    return { list: inner, at: listAt(value, inner).length }
  }
  const around = stepAround(list)
  if (around === undefined) return undefined
  const lists = listsOf(getAt(value, around.path))
  const before = lists[lists.indexOf(around.inner) - 1]
  if (before === undefined) return placeOf(around.path)
  const inner = `${around.path}.${before}`
  return { list: inner, at: listAt(value, inner).length }
}

/** The returned place is valid after the step has been removed. */
function placeBelow(value: Json, { list, at }: Place): Place | undefined {
  const below = listAt(value, list)[at + 1]
  if (below !== undefined) {
    const [first] = listsOf(below)
    return first === undefined ? { list, at: at + 1 } : { list: `${pathOf({ list, at })}.${first}`, at: 0 }
  }
  const around = stepAround(list)
  if (around === undefined) return undefined
  const lists = listsOf(getAt(value, around.path))
  const next = lists[lists.indexOf(around.inner) + 1]
  if (next !== undefined) return { list: `${around.path}.${next}`, at: 0 }
  const outer = placeOf(around.path)
  return { list: outer.list, at: outer.at + 1 }
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
