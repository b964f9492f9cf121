/** The parameters and columns that the code names match those of the SQL functions, in their order. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { LOAD_COLUMNS } from '../../src/contacts/load/load-state.ts'
import { columnOf } from '../../src/contacts/profile-columns.ts'
import { COLUMNS, PARAMETERS } from '../../src/contacts/save/save-parameters.ts'
import { PROFILE_FIELDS } from '../../src/rules/events/facts.ts'

const read = (name: string): string =>
  readFileSync(new URL(`../../sql/postgres/functions/${name}.sql`, import.meta.url), 'utf8').replaceAll(/--.*/g, '')

/** Includes the functions to which it passes its lists unchanged. */
const SAVE = ['save_changes', 'add_affected_visitors', 'merge_all', 'change_memberships', 'move_clocks']
  .map(read)
  .join('\n')
const LOAD = read('load_state')

/** Maps each parameter to the aliases of each `unnest` of its columns: one list for each place. */
function unnestedColumns(source: string): Map<string, string[][]> {
  const found = new Map<string, string[][]>()
  for (const [, list = '', aliases = ''] of source.matchAll(/unnest\(\s*(p_\w+\[1\][^()]*)\)[^()]*?\(([^()]*)\)/g)) {
    const cells = list.split(',').map((one) => /(p_\w+)\[(\d+)\]/.exec(one)!)
    const [[, parameter = '']] = cells as [RegExpExecArray]
    // Columns are numbered without gaps, and belong to one parameter.
    expect(cells.map(([, name, n]) => [name, n])).toEqual(cells.map((_, at) => [parameter, String(at + 1)]))
    const columns = aliases.split(',').map((alias) => alias.trim())
    found.set(parameter, [...(found.get(parameter) ?? []), columns.slice(0, cells.length)])
  }
  return found
}

it('every parameter of save_changes is sent, and no other', () => {
  const [, header = ''] = /function save_changes\(([^)]*)\)/.exec(SAVE) ?? []
  const declared = Object.fromEntries(header.split(',').map((one) => one.trim().split(' ') as [string, string]))
  expect(
    Object.keys(PARAMETERS)
      .map((name) => `p_${name}`)
      .toSorted(),
  ).toEqual(Object.keys(declared).toSorted())
  for (const [name, cast] of Object.entries(PARAMETERS))
    if (cast !== '') expect(cast).toBe(`::text::${declared[`p_${name}`]}`)
})

it.each(Object.entries(COLUMNS))('the columns of %s stand as save_changes unnests them', (list, columns) => {
  const places = unnestedColumns(SAVE).get(`p_${list}`) ?? []
  expect(places).not.toEqual([])
  // A statement may read only the first columns.
  for (const place of places) expect(place).toEqual(columns.slice(0, place.length))
  expect(places.some((place) => place.length === columns.length)).toBe(true)
})

it('save_changes unnests no list that is not named', () => {
  expect([...unnestedColumns(SAVE).keys()].toSorted()).toEqual(
    Object.keys(COLUMNS)
      .map((list) => `p_${list}`)
      .toSorted(),
  )
})

it.each(Object.entries(LOAD_COLUMNS))('the columns of %s stand as load_state unnests them', (list, columns) => {
  expect(unnestedColumns(LOAD).get(`p_${list}`)).toEqual([columns])
})

it('load_state lists the profile in the order of its fields', () => {
  const [, columns = ''] = /json_build_array\((c\.first_name[^)]*)\)/.exec(LOAD) ?? []
  expect(columns.split(',').map((one) => one.trim())).toEqual(PROFILE_FIELDS.map((field) => `c.${columnOf(field)}`))
})
