import { describe, expect, test } from 'vitest'
import { EVENT_TYPES, type EventType } from '../../src/rules/events/facts.ts'
import { interpret } from '../../src/rules/events/interpret.ts'
import { containing } from './containing.ts'
import { readNames } from './read-names.ts'

const NO_MEANING = containing('the amount has no meaning')
const CONTRADICTION = containing('contradicts itself')
const TOO_LARGE = containing('beyond 1000000000000000')
const ROUNDED = containing('rounded to six decimals')

/** Contract, "Recognised names by type", row by row. */
const NAMES: [EventType, string[]][] = [
  [
    'purchase',
    ['deal_won', 'invoice_paid', 'purchase', 'repeat_purchase', 'subscription_renewed', 'subscription_started'],
  ],
  ['booking', ['appointment_booked', 'booking_confirmed', 'reservation_confirmed', 'trial_started']],
  ['lead', ['form_submitted', 'sluice_form.submitted', 'sluice_link.submitted', 'lead_submitted']],
  ['checkout_started', ['add_to_cart', 'booking_started', 'checkout_started']],
  ['fulfilled', ['appointment_attended', 'order_delivered']],
  ['cancelled', ['appointment_cancelled', 'subscription_canceled', 'subscription_expired']],
]
const ROWS = NAMES.flatMap(([type, names]) => names.map((event): [string, EventType] => [event, type]))

test('the guide lists the recognised names', () => {
  expect(readNames('Recognised names')).toEqual(NAMES)
})

describe('no type, no value: the name decides', () => {
  test.each(ROWS)('%s means %s', (event, type) => {
    expect(interpret({ event }, 'USD')).toEqual({ type, counted: '0', currency: null, order: type === 'purchase' })
  })

  test.each([
    'lesson_done',
    'Purchase',
    'PURCHASE',
    'purchase ',
    'refund',
    'cancelled',
    'booking',
    '<SDK>_form.submitted',
    'constructor',
    '__proto__',
    'toString',
    'hasOwnProperty',
    '購入',
  ])('%j means none', (event) => {
    expect(interpret({ event }, 'USD')).toEqual({ type: 'none', counted: '0', currency: null, order: false })
  })
})

describe('no type, a value: money moved, whatever the name', () => {
  const names = ['lesson_done', ...ROWS.map(([event]) => event)]

  test.each(names)('%s of 25 is a purchase', (event) => {
    expect(interpret({ event, value: 25 }, 'USD')).toEqual({
      type: 'purchase',
      counted: '25',
      currency: 'USD',
      order: true,
    })
  })

  test.each(names)('%s of -25 is a refund', (event) => {
    expect(interpret({ event, value: -25 }, 'USD')).toEqual({
      type: 'refund',
      counted: '-25',
      currency: 'USD',
      order: false,
    })
  })

  test.each(ROWS)('%s of 0 moved no money, so it means %s', (event, type) => {
    for (const value of [0, -0]) {
      expect(interpret({ event, value }, 'USD')).toEqual({
        type,
        counted: '0',
        currency: 'USD',
        order: type === 'purchase',
      })
    }
  })

  test('an unknown name with 0 gets a warning that the amount had no meaning', () => {
    expect(interpret({ event: 'lesson_done', value: 0 }, 'USD')).toEqual({
      type: 'none',
      counted: '0',
      currency: 'USD',
      order: false,
      warning: NO_MEANING,
    })
  })
})

describe('a type that was sent always wins', () => {
  /** Contract, "Event type table", with decisions, "Meaning of an event". */
  const table: [EventType, value: number | undefined, counted: string, order: boolean][] = [
    ['purchase', 25.5, '25.5', true],
    ['purchase', undefined, '0', true],
    ['purchase', 0, '0', true],
    ['refund', 25.5, '-25.5', false],
    ['refund', -25.5, '-25.5', false],
    ['refund', undefined, '0', false],
    ['refund', 0, '0', false],
    ...(['booking', 'lead', 'checkout_started', 'fulfilled', 'cancelled'] as const).flatMap(
      (type): [EventType, number | undefined, string, boolean][] =>
        [25.5, -25.5, 0, undefined, 1e16, 1e-9].map((value) => [type, value, '0', false]),
    ),
  ]

  test.each(table)('%s of %d counts %s, an order: %s', (type, value, counted, order) => {
    for (const event of ['lesson_done', 'purchase', 'trial_started']) {
      const currency = value === undefined ? null : 'USD'
      const reported = { event, type, ...(value !== undefined && { value }) }
      expect(interpret(reported, 'USD')).toEqual({ type, counted, currency, order })
    }
  })

  test('a purchase of less than nothing contradicts itself', () => {
    for (const value of [-25, -1e-9, -1e16]) {
      expect(interpret({ event: 'x', type: 'purchase', value }, 'USD')).toEqual({
        type: 'purchase',
        counted: '0',
        currency: 'USD',
        order: false,
        warning: CONTRADICTION,
      })
    }
  })

  test('every type is in the table', () => {
    expect(new Set(table.map(([type]) => type))).toEqual(new Set(EVENT_TYPES))
  })
})

describe('amounts', () => {
  test.each([
    [1e15, '1000000000000000', true, undefined],
    [-1e15, '-1000000000000000', false, undefined],
    [1000000000000000.1, '0', true, TOO_LARGE],
    [-1000000000000000.1, '0', false, TOO_LARGE],
    [1e308, '0', true, TOO_LARGE],
    [0.0000004, '0', true, ROUNDED],
    [0.0000005, '0.000001', true, ROUNDED],
    [-0.0000005, '-0.000001', false, ROUNDED],
    [0.1, '0.1', true, undefined],
  ])('%d counts %s', (value, counted, order, warning) => {
    expect(interpret({ event: 'x', value }, 'USD')).toEqual({
      type: order ? 'purchase' : 'refund',
      counted,
      currency: 'USD',
      order,
      warning,
    })
  })

  test.each([
    ['eur', 'USD', 'EUR'],
    ['ILS', 'USD', 'ILS'],
    [' eur ', 'USD', 'EUR'],
    [undefined, 'usd', 'USD'],
  ])('currency %j with the default %s is counted in %s', (currency, fallback, expected) => {
    expect(interpret({ event: 'x', value: 1, currency }, fallback).currency).toBe(expected)
  })

  test('a currency without a value is counted in by nothing', () => {
    expect(interpret({ event: 'purchase', currency: 'EUR' }, 'USD').currency).toBeNull()
  })
})
