/** Triggers on what a browser captures: which ones are accepted, and what triggers them. */
import { expect, it, test } from 'vitest'
import { readWebTrigger } from '../../../src/rules/campaigns/read-web-trigger.ts'
import { type SeenPage, type WebTriggerName, compileWebTrigger } from '../../../src/rules/campaigns/web-trigger.ts'

const read = (web: WebTriggerName, where?: unknown) =>
  readWebTrigger(web, { web, ...(where !== undefined && { where }) })
const faults = (web: WebTriggerName, where: unknown, more: object = {}) => {
  const found = readWebTrigger(web, { web, where, ...more })
  return 'faults' in found ? found.faults.map(({ path, message }) => `${path} ${message.slice(path.length + 1)}`) : []
}
const condition = (property: string, operator: string, value?: unknown) => ({
  property,
  operator,
  ...(value !== undefined && { value }),
})

it('is read as itself', () => {
  for (const trigger of [
    { web: 'page_view' as const },
    {
      web: 'page_view' as const,
      where: [condition('path', 'starts_with', '/shop'), condition('host', 'in', ['a.io', 'b.io'])],
    },
    { web: 'scroll_depth' as const, where: [condition('depth', 'greater_than_or_equal', 50)] },
    { web: 'active_time' as const, where: [condition('seconds', 'between', [30, 60]), condition('host', 'exists')] },
  ]) {
    const found = read(trigger.web, trigger.where)
    expect(found).toEqual({ trigger })
    expect(readWebTrigger(trigger.web, trigger)).toEqual(found)
  }
  expect(read('page_view', [])).toEqual({ trigger: { web: 'page_view' } })
})

test.each<[string, string[]]>([
  ['a property of another trigger', faults('page_view', [condition('depth', 'greater_than', 1)])],
  ['a property that pages do not have', faults('active_time', [condition('value', 'greater_than', 1)])],
  ['an inherited one', faults('page_view', [condition('constructor', 'exists')])],
])('%s is refused', (_, found) => {
  expect(found).toEqual([expect.stringMatching(/^trigger\.where\[0\]\.property must be one of /)])
})

test.each<[string, string[]]>([
  ['a text of a number', faults('scroll_depth', [condition('depth', 'equals', '50')])],
  ['a number of a text', faults('page_view', [condition('path', 'greater_than', 5)])],
  ['true', faults('page_view', [condition('path', 'is_true')])],
])('a comparison that never holds is refused: %s', (_, found) => {
  expect(found).toEqual([expect.stringMatching(/^trigger\.where\[0\]\.operator must compare with a (text|number)$/)])
})

it('has nothing else, and at most 5 conditions', () => {
  expect(faults('page_view', undefined, { sources: ['live'] })).toEqual(['trigger.sources does not belong there'])
  const where = (many: number) => Array.from({ length: many }, () => condition('path', 'exists'))
  expect(faults('page_view', where(5))).toEqual([])
  expect(faults('page_view', where(6))).toHaveLength(1)
})

test.each<[SeenPage, boolean]>([
  [{ path: '/shop/a', host: 'x.io', depth: 50 }, true],
  [{ path: '/shop/a', host: 'x.io', depth: 49 }, false],
  [{ path: '/', host: 'x.io', depth: 50 }, false],
  [{ path: '/shop/a', host: 'x.io' }, false],
])('all conditions must hold of %j: %s', (page, expected) => {
  const where = [condition('path', 'starts_with', '/shop'), condition('depth', 'greater_than_or_equal', 50)]
  const trigger = read('scroll_depth', where)
  expect('trigger' in trigger && compileWebTrigger(trigger.trigger)(page)).toBe(expected)
})
