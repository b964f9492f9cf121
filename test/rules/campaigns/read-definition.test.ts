import { describe, expect, test } from 'vitest'
import { readDefinition } from '../../../src/rules/campaigns/read-definition.ts'
import { readDuration } from '../../../src/rules/campaigns/read-duration.ts'
import { walkSteps } from '../../../src/rules/campaigns/walk-steps.ts'
import { EXIT, RULE, SEND, TEMPLATE, WAIT, contextOf, definitionOf, faultsOf } from './read.ts'

const times = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item)
const inSteps = (...steps: unknown[]) => ({ steps })

/** Nests branches so that the innermost list is at this level. */
function atLevel(level: number, steps: unknown[]): unknown[] {
  return level === 1 ? steps : [{ type: 'branch', rule: RULE, otherwise: atLevel(level - 1, steps) }]
}

describe('a definition', () => {
  test('without any field has no steps, no caps, nobody held out, and the quiet hours of the business', () => {
    expect(definitionOf({})).toEqual({ steps: [], caps: [], holdOut: 0, tracking: { opens: true, clicks: true } })
    expect(definitionOf({ steps: null, caps: null, holdOut: null })).toEqual({
      steps: [],
      caps: [],
      holdOut: 0,
      tracking: { opens: true, clicks: true },
    })
    expect(definitionOf({ name: 'Welcome', trigger: { event: 'signup' } }).steps).toEqual([])
  })

  test('has steps of every type, with what was left out', () => {
    const steps = [
      { ...SEND, id: ' hello ' },
      { ...SEND, channel: 'webhook', template: TEMPLATE.toUpperCase(), kind: 'transactional' },
      WAIT,
      { type: 'wait_until', time: '09:00' },
      { type: 'wait_until', time: '23:59', weekdays: [7, 1] },
      { type: 'wait_for', event: ' purchase ', timeout: 'P1W', steps: [EXIT] },
      { type: 'branch', rule: RULE, otherwise: [WAIT], steps: null },
      { type: 'split', parts: [{ percent: 0.01 }, { percent: 99.99, steps: [WAIT, EXIT] }] },
    ]
    expect(definitionOf({ steps }).steps).toEqual([
      { id: 'hello', ...SEND, kind: 'marketing' },
      { id: 'made-1', ...SEND, channel: 'webhook', kind: 'transactional' },
      { id: 'made-2', ...WAIT },
      { id: 'made-3', type: 'wait_until', time: '09:00' },
      { id: 'made-4', type: 'wait_until', time: '23:59', weekdays: [7, 1] },
      {
        id: 'made-5',
        type: 'wait_for',
        event: 'purchase',
        timeout: 'P1W',
        steps: [{ id: 'made-6', ...EXIT }],
        otherwise: [],
      },
      { id: 'made-7', type: 'branch', rule: RULE, steps: [], otherwise: [{ id: 'made-8', ...WAIT }] },
      {
        id: 'made-9',
        type: 'split',
        parts: [
          { percent: 0.01, steps: [] },
          {
            percent: 99.99,
            steps: [
              { id: 'made-10', ...WAIT },
              { id: 'made-11', ...EXIT },
            ],
          },
        ],
      },
    ])
  })

  test('is read as itself when it is sent again', () => {
    const definition = definitionOf({
      steps: [...atLevel(5, [SEND]), { type: 'split', parts: [{ percent: 100, steps: [WAIT] }] }],
      quietHours: null,
      caps: [{ channel: 'sms', atMost: 1, days: 0.5 }],
      holdOut: 2.5,
      tracking: { clicks: false },
    })
    expect(definitionOf(definition)).toEqual(definition)
    expect(definitionOf(definitionOf({}))).toEqual(definitionOf({}))
  })

  test('has at most 20 faults', () => {
    expect(faultsOf(inSteps(...times(30, { type: 'jump' })))).toHaveLength(20)
    const rule = { all: times(30, { tag: '' }) }
    expect(faultsOf(inSteps({ type: 'jump' }, { type: 'branch', rule }, WAIT))).toHaveLength(20)
  })
})

describe('steps', () => {
  const types = 'send, wait, wait_until, wait_for, branch, split, update, exit'
  const channels = 'email, sms, whatsapp, push, webhook'
  const duration =
    'must be an ISO 8601 duration of weeks, days, hours, minutes and seconds such as P3D or PT90M, above zero and at most P365D'
  test.each<[unknown, string]>([
    ['send', 'steps[0] must be an object with a type'],
    [null, 'steps[0] must be an object with a type'],
    [{}, `steps[0].type must be one of ${types}`],
    [{ type: 'jump', addTags: ['vip'] }, `steps[0].type must be one of ${types}`],
    [{ ...WAIT, until: 'P1D' }, 'steps[0].until does not belong there'],
    [{ ...EXIT, steps: [] }, 'steps[0].steps does not belong there'],
    [{ ...WAIT, id: '' }, 'steps[0].id must be 1 to 64 characters'],
    [{ ...WAIT, id: 'x'.repeat(65) }, 'steps[0].id must be 1 to 64 characters'],
    [{ ...WAIT, id: 7 }, 'steps[0].id must be a string'],
    [{ ...WAIT, id: 'a\0' }, 'steps[0].id must not hold NUL characters or lone surrogates'],
    [{ ...SEND, channel: 'fax' }, `steps[0].channel must be one of ${channels}`],
    [{ ...SEND, channel: undefined }, `steps[0].channel must be one of ${channels}`],
    [{ ...SEND, template: 'welcome' }, 'steps[0].template must be the id of a template'],
    [{ ...SEND, template: undefined }, 'steps[0].template must be the id of a template'],
    [{ ...SEND, kind: 'bulk' }, 'steps[0].kind must be one of marketing, transactional'],
    [{ type: 'wait' }, `steps[0].for ${duration}`],
    [{ type: 'wait', for: 3 }, `steps[0].for ${duration}`],
    [{ type: 'wait', for: 'P1M' }, `steps[0].for ${duration}`],
    [{ type: 'wait_until', time: '9:00' }, 'steps[0].time must be a time from 00:00 to 23:59, such as 09:00'],
    [{ type: 'wait_until', time: '24:00' }, 'steps[0].time must be a time from 00:00 to 23:59, such as 09:00'],
    [{ type: 'wait_until' }, 'steps[0].time must be a time from 00:00 to 23:59, such as 09:00'],
    [{ type: 'wait_for', event: ' ', timeout: 'P1D' }, 'steps[0].event must be 1 to 64 characters'],
    [{ type: 'wait_for', event: 'e'.repeat(65), timeout: 'P1D' }, 'steps[0].event must be 1 to 64 characters'],
    [{ type: 'wait_for', event: 'purchase' }, `steps[0].timeout ${duration}`],
    [{ type: 'wait_for', event: 'purchase', timeout: 'P1D', steps: {} }, 'steps[0].steps must be a list of steps'],
    [{ type: 'branch' }, 'steps[0].rule must be an object: a group or a condition'],
    [
      { type: 'branch', rule: { all: [{ tag: 'vip', operator: 'is' }] } },
      'steps[0].rule.all[0].operator must be one of has, has_not',
    ],
    [{ type: 'split' }, 'steps[0].parts must be a list of 1 to 100 parts'],
    [{ type: 'split', parts: [] }, 'steps[0].parts must be a list of 1 to 100 parts'],
    [{ type: 'split', parts: [{ percent: 90 }] }, 'steps[0].parts must have percentages that add up to 100, not 90'],
    [
      { type: 'split', parts: [{ percent: 100 }, { percent: 0.01 }] },
      'steps[0].parts must have percentages that add up to 100, not 100.01',
    ],
    [
      { type: 'split', parts: [{ percent: 0 }, { percent: 100 }] },
      'steps[0].parts[0].percent must be a number from 0.01 to 100, with at most 2 decimals',
    ],
    [
      { type: 'split', parts: [{ percent: 33.333 }] },
      'steps[0].parts[0].percent must be a number from 0.01 to 100, with at most 2 decimals',
    ],
    [{ type: 'split', parts: [50] }, 'steps[0].parts[0] must be an object with percent and steps'],
    [{ type: 'split', parts: [{ percent: 100, step: [] }] }, 'steps[0].parts[0].step does not belong there'],
  ])('%j is refused', (step, message) => {
    expect(faultsOf(inSteps(step))).toEqual([message])
  })

  test.each([[[]], [[1, 1]], [[0]], [[8]], [[1.5]], ['1'], [[1, 2, 3, 4, 5, 6, 7, 7]]])(
    'the weekdays %j are refused',
    (weekdays) => {
      const message = 'steps[0].weekdays must be a list of different whole numbers from 1, which is Monday, to 7'
      expect(faultsOf(inSteps({ type: 'wait_until', time: '09:00', weekdays }))).toEqual([message])
    },
  )

  test('name the faults of steps inside them', () => {
    const bad = { ...SEND, template: 'x' }
    const steps = [
      { type: 'wait_for', event: 'e', timeout: 'P1D', otherwise: [WAIT, bad] },
      { type: 'split', parts: [{ percent: 100, steps: [{ type: 'branch', rule: RULE, steps: [bad] }] }] },
    ]
    expect(faultsOf({ steps })).toEqual([
      'steps[0].otherwise[1].template must be the id of a template',
      'steps[1].parts[0].steps[0].steps[0].template must be the id of a template',
    ])
  })

  test('are a list', () => {
    expect(faultsOf({ steps: { 0: WAIT } })).toEqual(['steps must be a list of steps'])
  })

  test('have at most 5 levels', () => {
    expect(faultsOf(inSteps(...atLevel(5, [WAIT])))).toEqual([])
    expect(faultsOf(inSteps(...atLevel(6, [])))).toEqual([])
    const path = `steps[0]${'.otherwise[0]'.repeat(4)}.otherwise`
    expect(faultsOf(inSteps(...atLevel(6, [WAIT])))).toEqual([`${path} is at level 6: steps have at most 5 levels`])
    expect(faultsOf(inSteps(...atLevel(2000, [WAIT])))).toHaveLength(1)
  })

  test('are at most 200 with those inside', () => {
    const parts = [
      { percent: 50, steps: times(99, WAIT) },
      { percent: 50, steps: times(99, WAIT) },
    ]
    const split = { type: 'split', parts }
    expect(faultsOf(inSteps(split, WAIT))).toEqual([])
    expect(walkSteps(definitionOf(inSteps(split, WAIT)).steps)).toHaveLength(200)
    const message = 'steps[2] is one step too many: a campaign has at most 200'
    expect(faultsOf(inSteps(split, WAIT, WAIT))).toEqual([message])
    expect(faultsOf(inSteps(split, WAIT, ...times(5000, { type: 'jump' })))).toEqual([message])
  })

  test('split into at most 100 parts', () => {
    expect(faultsOf(inSteps({ type: 'split', parts: times(100, { percent: 1 }) }))).toEqual([])
    const message = 'steps[0].parts must be a list of 1 to 100 parts'
    expect(faultsOf(inSteps({ type: 'split', parts: times(101, { percent: 1 }) }))).toEqual([message])
  })

  test('split exactly, whatever the decimals', () => {
    const parts = [0.29, 0.57, 1.13, 32.67, 65.34].map((percent) => ({ percent }))
    expect(faultsOf(inSteps({ type: 'split', parts }))).toEqual([])
  })

  test('have ids that no other step has, in all lists', () => {
    const branch = { type: 'branch', rule: RULE, steps: [{ ...WAIT, id: 'a' }], otherwise: [{ ...WAIT, id: 'b' }] }
    expect(faultsOf(inSteps({ ...WAIT, id: 'x'.repeat(64) }, branch, { ...WAIT, id: 'c' }))).toEqual([])
    expect(faultsOf(inSteps(branch, { ...WAIT, id: ' a ' }))).toEqual(['steps[1].id is already used by another step'])
  })

  test('keep the type that their id had in earlier versions', () => {
    const context = contextOf({
      earlier: new Map([
        ['a', 'wait'],
        ['b', 'send'],
      ]),
    })
    expect(faultsOf(inSteps({ ...WAIT, id: 'a' }, { ...EXIT, id: 'new' }), context)).toEqual([])
    expect(faultsOf(inSteps({ ...WAIT, id: 'b' }), context)).toEqual([
      'steps[0].id is the id of a step of the type send in an earlier version',
    ])
  })

  test('may have rules about segments that do not exist yet, and not about fields of another type', () => {
    const branchOn = (rule: unknown) => inSteps({ type: 'branch', rule })
    expect(faultsOf(branchOn({ segment: 'later', operator: 'is_member' }))).toEqual([])
    expect(faultsOf(branchOn({ customField: 'plan', operator: 'is_true' }))).toHaveLength(1)
  })

  test('are walked from top to bottom', () => {
    const { steps } = definitionOf(inSteps({ type: 'split', parts: [{ percent: 100, steps: [WAIT] }] }, EXIT))
    expect(walkSteps(steps).map(({ step, path }) => `${path} ${step.type}`)).toEqual([
      'steps[0] split',
      'steps[0].parts[0].steps[0] wait',
      'steps[1] exit',
    ])
  })
})

describe('quiet hours', () => {
  test.each<[unknown, object | null | undefined]>([
    [
      { from: '21:00', to: '09:00' },
      { from: '21:00', to: '09:00' },
    ],
    [
      { from: '13:00', to: ' 14:30 ' },
      { from: '13:00', to: '14:30' },
    ],
    [{ from: '09:00', to: '09:00' }, null],
    [null, null],
    ['default', undefined],
    [undefined, undefined],
  ])('%j are %j', (quietHours, read) => {
    expect(definitionOf({ quietHours }).quietHours).toEqual(read)
  })

  test.each<[unknown, string]>([
    ['21:00', 'quietHours must be an object with from and to'],
    [{ from: '21:00' }, 'quietHours.to must be a time from 00:00 to 23:59, such as 09:00'],
    [{ from: '21:60', to: '09:00' }, 'quietHours.from must be a time from 00:00 to 23:59, such as 09:00'],
    [{ from: '21:00', to: '09:00', zone: 'UTC' }, 'quietHours.zone does not belong there'],
  ])('%j are refused', (quietHours, message) => {
    expect(faultsOf({ quietHours })).toEqual([message])
  })
})

describe('caps', () => {
  const CAP = { channel: 'email', atMost: 2, days: 7 }

  test('wait unless they are to skip', () => {
    expect(definitionOf({ caps: [CAP, { ...CAP, days: 0.5, whenReached: 'skip' }] }).caps).toEqual([
      { ...CAP, whenReached: 'wait' },
      { ...CAP, days: 0.5, whenReached: 'skip' },
    ])
  })

  test.each<[unknown, string]>([
    ['email', 'caps[0] must be an object with channel, atMost, days and whenReached'],
    [{ ...CAP, channel: 'fax' }, 'caps[0].channel must be one of email, sms, whatsapp, push, webhook'],
    [{ ...CAP, atMost: 0 }, 'caps[0].atMost must be a whole number from 1 to 1,000'],
    [{ ...CAP, atMost: 1001 }, 'caps[0].atMost must be a whole number from 1 to 1,000'],
    [{ ...CAP, atMost: 1.5 }, 'caps[0].atMost must be a whole number from 1 to 1,000'],
    [{ ...CAP, days: 0 }, 'caps[0].days must be a number above 0 and at most 365'],
    [{ ...CAP, days: 365.1 }, 'caps[0].days must be a number above 0 and at most 365'],
    [{ ...CAP, days: '7' }, 'caps[0].days must be a number above 0 and at most 365'],
    [{ ...CAP, whenReached: 'drop' }, 'caps[0].whenReached must be one of wait, skip'],
    [{ ...CAP, hours: 1 }, 'caps[0].hours does not belong there'],
  ])('%j is refused', (cap, message) => {
    expect(faultsOf({ caps: [cap] })).toEqual([message])
  })

  test('are at most 20', () => {
    expect(faultsOf({ caps: times(20, { ...CAP, atMost: 1000, days: 365 }) })).toEqual([])
    expect(faultsOf({ caps: times(21, CAP) })).toEqual(['caps must be a list of at most 20 caps'])
    expect(faultsOf({ caps: CAP })).toEqual(['caps must be a list of at most 20 caps'])
  })
})

test.each([0, 0.01, 12.5, 50])('%d per cent can be held out', (holdOut) => {
  expect(definitionOf({ holdOut }).holdOut).toBe(holdOut)
})
test.each([-1, 50.01, 0.001, NaN, '5', true])('%s per cent cannot be held out', (holdOut) => {
  expect(faultsOf({ holdOut })).toEqual(['holdOut must be a number from 0 to 50, with at most 2 decimals'])
})

test.each<[unknown, object]>([
  [{}, { opens: true, clicks: true }],
  [
    { opens: false, clicks: null },
    { opens: false, clicks: true },
  ],
  [
    { opens: false, clicks: false },
    { opens: false, clicks: false },
  ],
])('tracking %j is %j', (tracking, expected) => {
  expect(definitionOf({ tracking }).tracking).toEqual(expected)
})
test.each<[unknown, string]>([
  [true, 'tracking must be an object with opens and clicks'],
  [{ opens: 1 }, 'tracking.opens must be true or false'],
  [{ clicks: 'no' }, 'tracking.clicks must be true or false'],
  [{ links: true }, 'tracking.links does not belong there'],
])('tracking %j is refused', (tracking, fault) => {
  expect(faultsOf({ tracking })).toEqual([fault])
})

describe('a duration', () => {
  test.each([
    ['P3D', 3 * 86_400_000],
    ['PT90M', 90 * 60_000],
    ['P1W', 7 * 86_400_000],
    ['P1W2DT3H4M5S', 9 * 86_400_000 + 3 * 3_600_000 + 4 * 60_000 + 5000],
    ['PT0.001S', 1],
    ['PT1,5S', 1500],
    ['PT1.005S', 1005],
    ['P365D', 365 * 86_400_000],
    ['PT31536000S', 365 * 86_400_000],
  ])('%s has %d ms', (text, ms) => {
    expect(readDuration(text)).toBe(ms)
  })

  test.each([
    '',
    'P',
    'PT',
    'P1DT',
    'P0D',
    'PT0S',
    'PT0.000S',
    'P366D',
    'P365DT0.001S',
    'P53W',
    'P1M',
    'P1Y',
    '-P1D',
    'P-1D',
    'P1.5D',
    'PT1.5M',
    'PT0.0001S',
    'PT1S1M',
    'P1D1W',
    'p1d',
    '1D',
    'P1D ',
    'PT1E3S',
    'P99999999999999999999D',
  ])('"%s" is refused', (text) => {
    expect(readDuration(text)).toBeUndefined()
  })
})

test('other fields of the body are not looked at, and inherited ones are not fields', () => {
  const body = Object.create({ steps: 'inherited', quietHours: 'inherited', caps: 1, holdOut: 99 }) as Record<
    string,
    unknown
  >
  expect(readDefinition(body, contextOf())).toEqual({
    definition: { steps: [], caps: [], holdOut: 0, tracking: { opens: true, clicks: true } },
  })
})
