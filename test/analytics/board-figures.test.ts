/** How the rows of last week are matched with those of the week before. */
import { expect, it } from 'vitest'
import { readFigures } from '../../src/analytics/boards/mail/read-summary.ts'

const WEEK = '2026-03-09'

/** Returns the rows of each week, and records the queries. */
function answer(last: object, before: object) {
  const asked: Record<string, string>[] = []
  const ask = (query: Record<string, string>) => {
    asked.push(query)
    return Promise.resolve(query['to'] === WEEK ? last : before)
  }
  return { ask, asked }
}

const NO_TOUCH = { channel: null, source: '', medium: '', campaign: '', landingPage: null, currency: 'EUR' }
const touch = (row: object) => ({ ...NO_TOUCH, revenue: 1, conversions: 5, ...row })
const touches = (rows: object[], truncated = false) => ({ rows, truncated })

it('touches that share their words are not one touch', async () => {
  const { ask } = answer(
    touches([touch({ source: 'mail', revenue: 3 }), touch({ medium: 'mail', revenue: 2 })]),
    touches([touch({ medium: 'mail', revenue: 7 })]),
  )
  const figures = await readFigures('attribution', {}, WEEK, ask)
  expect(figures.map(({ last, before }) => [last, before])).toEqual([
    [3, 0],
    [2, 7],
  ])
})

it('touches have the number of events when one is named', async () => {
  const { ask } = answer(touches([touch({ source: 'mail', revenue: 0 })]), touches([]))
  expect(await readFigures('attribution', { event: 'signup' }, WEEK, ask)).toEqual([
    { name: [{ text: 'mail' }, { text: 'EUR' }], unit: 'number', last: 5, before: 0 },
  ])
})

it('what a list that was cut does not have is not known', async () => {
  const here = touches([touch({ source: 'here' })], true)
  const { ask } = answer(here, touches([touch({ source: 'gone' })], true))
  const figures = await readFigures('attribution', {}, WEEK, ask)
  expect(figures.map(({ last, before }) => [last, before])).toEqual([
    [1, null],
    [null, 1],
  ])
})

it.each([
  [99, 0],
  [100, null],
])('a page that is not among %i of the week before had %j views', async (count, before) => {
  const pages = Array.from({ length: count }, (_, at) => ({ page: `p${at}`, views: 1 }))
  const { ask, asked } = answer({ pages: [{ page: 'new', views: 3 }] }, { pages })
  const figures = await readFigures('pages', { top: '5' }, WEEK, ask)
  expect(figures[0]).toMatchObject({ last: 3, before })
  expect(figures[1]).toMatchObject({ last: 0, before: 1 })
  expect(figures.length).toBe(5)
  expect(asked.map(({ top }) => top)).toEqual(['100', '100'])
})

it('sources are as many as on the page', async () => {
  const sources = Array.from({ length: 100 }, (_, at) => ({ value: at === 0 ? null : `s${at}`, sessions: 1 }))
  const { ask } = answer({ sources }, { sources: [{ value: null, sessions: 2 }] })
  const figures = await readFigures('sources', {}, WEEK, ask)
  expect(figures.length).toBe(20)
  expect(figures[0]).toMatchObject({ last: 1, before: 2 })
})
