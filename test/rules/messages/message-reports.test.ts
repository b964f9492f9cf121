/** Reports of providers, combined in any order. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type MessageReport,
  REPORTED_STATES,
  type ReportedMessage,
  addReport,
  inOrder,
} from '../../../src/rules/messages/message-reports.ts'
import { isStopButton, readStopWord } from '../../../src/rules/messages/stop-words.ts'
import { runs } from '../../support/runs.ts'

const OWN: ReportedMessage[] = [
  { state: 'claimed', states: [{ state: 'claimed', at: 10 }], reports: [] },
  {
    state: 'unknown',
    states: [
      { state: 'claimed', at: 10 },
      { state: 'unknown', at: 20 },
    ],
    reports: [],
  },
  {
    state: 'sent',
    states: [
      { state: 'claimed', at: 10 },
      { state: 'sent', at: 20 },
    ],
    reports: [],
  },
  {
    state: 'failed',
    states: [
      { state: 'claimed', at: 10 },
      { state: 'failed', at: 20 },
    ],
    reports: [],
  },
]
const addAll = (message: ReportedMessage, reports: readonly MessageReport[]) =>
  reports.reduce<ReportedMessage>((before, report) => {
    const { isNew: _, ...after } = addReport(before, report) ?? { ...before, isNew: false }
    return after
  }, message)

describe('reports', () => {
  const report = fc.record(
    {
      state: fc.constantFrom(...REPORTED_STATES),
      at: fc.integer({ min: 0, max: 40 }),
      blame: fc.constantFrom(...(['hard_bounce', 'complaint', 'stop', 'recipient', 'sender'] as const)),
    },
    { requiredKeys: ['state', 'at'] },
  )

  it('have one result, in whatever order they come and however often', () => {
    const several = fc.array(report, { maxLength: 8 })
    const shuffled = several.chain((reports) =>
      fc.tuple(
        fc.constant(reports),
        fc.shuffledSubarray([...reports, ...reports], { minLength: reports.length * 2, maxLength: reports.length * 2 }),
      ),
    )
    fc.assert(
      fc.property(fc.constantFrom(...OWN), shuffled, (message, [reports, again]) => {
        const once = addAll(message, reports)
        expect(addAll(message, again)).toEqual(once)
        // Repeated reports change nothing.
        for (const one of reports) expect(addReport(once, one)).toBeNull()
        expect(once.states).toEqual(inOrder(once.states))
        expect(new Set(once.states.map(({ state }) => state)).size).toBe(once.states.length)
      }),
      { numRuns: runs(1000) },
    )
  })

  it('move a message on: the strongest one is its state', () => {
    const [, unknown, sent, failed] = OWN as [ReportedMessage, ReportedMessage, ReportedMessage, ReportedMessage]
    const stateOf = (message: ReportedMessage, ...states: MessageReport['state'][]) =>
      addAll(
        message,
        states.map((state) => ({ state, at: 30 })),
      ).state
    expect(stateOf(unknown, 'sent')).toBe('sent')
    expect(stateOf(unknown, 'failed')).toBe('failed')
    expect(stateOf(sent, 'failed')).toBe('failed')
    expect(stateOf(failed, 'sent')).toBe('failed')
    expect(stateOf(failed, 'delivered')).toBe('delivered')
    expect(stateOf(sent, 'bounced', 'delivered')).toBe('bounced')
    expect(stateOf(sent, 'complained', 'bounced', 'delivered', 'sent')).toBe('complained')
  })

  it('keep the earliest instant of each state', () => {
    const [, , sent] = OWN as [ReportedMessage, ReportedMessage, ReportedMessage]
    const after = addAll(sent, [
      { state: 'delivered', at: 33 },
      { state: 'delivered', at: 31 },
      { state: 'delivered', at: 32 },
    ])
    expect(after.states.at(-1)).toEqual({ state: 'delivered', at: 31 })
  })

  it('are both new if one is a soft bounce and one a hard bounce', () => {
    const [, , sent] = OWN as [ReportedMessage, ReportedMessage, ReportedMessage]
    const soft = addReport(sent, { state: 'bounced', at: 30, blame: 'recipient' })
    expect(soft).toMatchObject({ isNew: true, reports: ['bounced'] })
    const hard = addReport(soft!, { state: 'bounced', at: 31, blame: 'hard_bounce' })
    expect(hard).toMatchObject({ isNew: true, reports: ['bounced', 'hard_bounce'] })
    expect(addReport(hard!, { state: 'bounced', at: 31, blame: 'hard_bounce' })).toBeNull()
  })

  it('are not new if the address is suppressed for the same reason by another word', () => {
    const [, , sent] = OWN as [ReportedMessage, ReportedMessage, ReportedMessage]
    const refused = addReport(sent, { state: 'failed', at: 30, blame: 'stop' })
    expect(refused).toMatchObject({ isNew: true, reports: ['stop'] })
    expect(addReport(refused!, { state: 'bounced', at: 31, blame: 'stop' })).toMatchObject({ isNew: false })
    expect(addReport(refused!, { state: 'bounced', at: 31, blame: 'hard_bounce' })).toMatchObject({ isNew: true })
  })
})

describe('a reply', () => {
  it.each(['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'REVOKE', 'OPTOUT'])(
    '%s ends messages',
    (word) => {
      for (const body of [word, word.toLowerCase(), ` ${word}\n`, `${word}.`, `"${word}"!`, `¡${word}!`, `${word} 😡`])
        expect([body, readStopWord(body)]).toEqual([body, 'stop'])
      for (const body of [`please ${word}`, `${word} it`, `${word}?no`, `${word}${word}`, `${word}${' '.repeat(500)}`])
        expect([body, readStopWord(body)]).toEqual([body, null])
    },
  )

  it.each(['STOP ❤️', '🛑️ STOP', 'STOP ☹︎', '\u20E3stop', 'STOP 👍🏽'])(
    '%j ends messages, with emoji around the word',
    (body) => {
      expect(readStopWord(body)).toBe('stop')
    },
  )

  it('with a mark inside of the word, or a digit beside it, is none', () => {
    expect(['S\uFE0FTOP', 'STO\u0301P', 'STOP 1️⃣'].map(readStopWord)).toEqual([null, null, null])
  })

  it('may be a button of WhatsApp', () => {
    for (const text of ['Stop promotions', 'STOP PROMOTIONS', 'stop  promotions.', 'Stop', 'StopAll', 'Unsubscribe'])
      expect([text, isStopButton(text)]).toEqual([text, true])
    expect(['optout', '🛑️ Stop promotions'].map(isStopButton)).toEqual([true, true])
    // Those of a chat.
    for (const text of ['Cancel', 'END', 'Quit', 'Revoke', 'Start', 'UNSTOP', 'Stop promotions now', 'Promotions', ''])
      expect([text, isStopButton(text)]).toEqual([text, false])
    expect(readStopWord('Stop promotions')).toBeNull()
  })

  it('START begins them again, and any other word nothing', () => {
    expect(['START', 'start', ' Unstop '].map(readStopWord)).toEqual(['start', 'start', 'start'])
    expect(['HELP', 'YES', '', 'STO P', 'ＳＴＯＰ'].map(readStopWord)).toEqual([null, null, null, null, null])
  })
})
