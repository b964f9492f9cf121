/**
 * The columns of a contact's profile, which have the same names in both databases. All statements in TypeScript use
 * these lists.
 */
import { PROFILE_FIELDS, type ProfileField } from '../rules/events/facts.ts'

/** Returns the column of a field: `firstName` becomes `first_name`. */
export const columnOf = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name

export type ProfileColumn = SnakeCase<ProfileField>

export const PROFILE_COLUMNS = PROFILE_FIELDS.map((field) => columnOf(field) as ProfileColumn)

/** For the select list of a table with the alias `c`, with the names of the fields. */
export const SELECT_PROFILE = PROFILE_FIELDS.map((field) => `c.${columnOf(field)} as "${field}"`).join(', ')

/** Arguments for `json_build_object`. */
export const PROFILE_PAIRS = PROFILE_FIELDS.map((field) => `'${field}', c.${columnOf(field)}`).join(', ')

/** Returns what `of` returns for each field, under the names of the columns. */
export function profileColumns<Value>(of: (field: ProfileField) => Value): Record<ProfileColumn, Value> {
  const pairs = PROFILE_FIELDS.map((field, place) => [PROFILE_COLUMNS[place], of(field)])
  return Object.fromEntries(pairs) as Record<ProfileColumn, Value>
}
