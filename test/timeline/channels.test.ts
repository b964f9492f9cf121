/** The channel of a touch: the table in docs/analytics.md, row by row. */
import { expect, test } from 'vitest'
import { TOUCH_CHANNELS } from '../../src/analytics/attribution.ts'
import type { Touch } from '../../src/rules/events/facts.ts'
import { insertStates } from '../../src/stores/insert-states.ts'
import { columnsOf } from '../../src/timeline/shipping/send-touches.ts'
import { newBusiness, openLab, query } from './lab.ts'
import { useOpened } from '../support/use-opened.ts'

const businessId = newBusiness()
const lab = useOpened(openLab)

/** [channel, utm_source, utm_medium, referrer, click ids, utm_campaign] */
const CAME: [
  channel: string,
  source: string,
  medium: string,
  referrer?: string,
  clickId?: string,
  campaign?: string,
][] = [
  ['paid_search', '', '', '', 'gclid'],
  ['paid_search', '', '', '', 'gbraid'],
  ['paid_search', '', '', '', 'wbraid'],
  ['paid_search', '', '', 'https://www.bing.com/', 'msclkid'],
  ['paid_search', 'Google', 'CPC'],
  ['paid_search', '', 'ppc', 'https://duckduckgo.com/'],
  ['paid_search', 'google', 'cpm'],
  ['paid_search', 'partner', 'paid-search'],
  ['paid_social', '', '', '', 'ttclid'],
  ['paid_social', '', 'cpc', '', 'fbclid'],
  ['paid_social', 'facebook', 'paid'],
  ['paid_social', 'ig', 'Paid_Social'],
  ['paid_social', 'anything', 'paidsocial'],
  ['paid_other', 'taboola', 'cpc'],
  ['paid_other', 'criteo', 'retargeting'],
  ['display', 'adnet', 'display'],
  ['display', 'adnet', 'Banner'],
  ['display', 'adnet', 'cpm'],
  ['display', 'google', 'display', '', 'gclid'],
  ['email', 'news', 'email'],
  ['email', 'E-Mail', ''],
  ['email', 'klaviyo', 'e_mail', 'https://mail.google.com/'],
  ['sms', 'sms', ''],
  ['sms', 'twilio', 'SMS'],
  ['affiliate', 'partner', 'affiliate'],
  ['affiliate', 'partner', 'affiliates'],
  ['organic_search', '', '', 'https://www.google.com/'],
  ['organic_search', '', '', 'https://WWW.GOOGLE.co.uk/search'],
  ['organic_search', '', '', 'https://search.yahoo.com/'],
  ['organic_search', '', '', 'https://search.brave.com/'],
  ['organic_search', '', '', 'android-app://com.google.android.googlequicksearchbox/'],
  ['organic_search', 'google', ''],
  ['organic_search', 'blog', 'organic'],
  ['organic_social', '', '', 'https://l.facebook.com/', 'fbclid'],
  ['organic_social', '', '', '', 'fbclid'],
  ['organic_social', '', '', 'https://t.co/x'],
  ['organic_social', 'linkedin', ''],
  ['organic_social', 'buffer', 'social'],
  ['referral', '', '', 'https://blog.example/'],
  ['referral', '', '', 'https://mail.google.com/'],
  ['referral', '', '', 'https://ask.example.com/'],
  ['referral', 'partner', 'referral'],
  ['campaign', 'newsletter', ''],
  ['campaign', '', 'podcast'],
  ['campaign', '', '', '', '', 'spring'],
  ['campaign', 'poster', 'qr', 'https://blog.example/'],
  ['direct', '', ''],
  ['direct', '(direct)', '(none)'],
]

test('each touch has the channel of its source', async () => {
  const lines = CAME.map(([, source, medium, referrer = '', clickId = '', campaign = ''], n) => {
    const touch: Touch = { at: n, url: 'https://shop.example/', referrer, utm: { source, medium, campaign } }
    if (clickId !== '') touch.clickIds = { [clickId]: 'x' }
    return columnsOf(touch)
  })
  const columns = Object.fromEntries(Object.keys(lines[0] ?? {}).map((name) => [name, lines.map((line) => line[name])]))
  const row = { business_id: businessId, visitor_id: 'a'.repeat(32), revision: 1, erased: 0, ...columns }
  await insertStates(lab.clickhouse, 'visitor_touches', [JSON.stringify(row)])
  const found = await query<{ at_ms: number; channel: string; click_id: string }>(
    lab,
    'select at_ms, channel, click_id from touches where business_id = {business: UUID} order by at_ms',
    { business: businessId },
  )
  expect(found.map(({ at_ms, channel, click_id }) => [...(CAME[at_ms] ?? []).slice(1), channel, click_id])).toEqual(
    CAME.map(([channel, ...rest]) => [...rest, channel, rest[3] ?? '']),
  )
  expect(TOUCH_CHANNELS).toEqual(expect.arrayContaining(found.map(({ channel }) => channel)))
})
