/** The body of `track` from a page. Lengths apply after trimming. */
import { type Static, Type } from '@sinclair/typebox'
import { ageMs, optionalText, text } from '../body-fields.ts'
import { CLICK_IDS, UTM_FIELDS } from '../../../rules/events/facts.ts'
import { MAX_DEPTH } from '../../../rules/events/text.ts'

const touchText = optionalText(512, 'The value in the address of the page.')

const touchTexts = (names: readonly string[], description: string) =>
  Type.Optional(Type.Object(Object.fromEntries(names.map((name) => [name, touchText])), { description }))

/** How a visitor came to the site. */
export const TouchSchema = Type.Object({
  ageMs,
  url: text(1, 512, 'The landing page.', 'https://shop.example/?utm_source=news'),
  referrer: optionalText(512, 'The page of another site that linked there.'),
  utm: touchTexts(UTM_FIELDS, 'The utm_… parameters.'),
  clickIds: touchTexts(CLICK_IDS, 'The click ids of ad platforms.'),
})

/** The visitor id in a call from a page. */
export const browserVisitorId = Type.String({
  pattern: '^[0-9a-f]{32}$',
  description: '32 lower-case hexadecimal digits, as the browser script makes them',
  examples: ['5f0c6d1be2a94f37a3d8c4b9e17f2a60'],
})

/** The body that `sluice.track` sends. */
export const BrowserTrackSchema = Type.Object({
  businessId: Type.Optional(
    Type.String({ description: 'The id of the business of the page. You can leave it out with a publishable key.' }),
  ),
  visitorId: Type.Optional(browserVisitorId),
  event: text(1, 64, 'The name of the event. Trimmed, otherwise stored as sent.', 'demo_requested'),
  details: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        `The properties of the event: any JSON, at most 32,768 bytes as compact JSON, nested at most ${MAX_DEPTH} levels deep. ` +
        'No field in them counts as revenue.',
      examples: [{ plan: 'pro' }],
    }),
  ),
  messageId: Type.Optional(
    text(1, 64, 'The id of this call. A call that is sent twice counts once.', '7c9e6679f2d14a0b'),
  ),
  ageMs: Type.Optional(ageMs),
  first: Type.Optional(TouchSchema),
  latest: Type.Optional(TouchSchema),
})

export type BrowserTrackBody = Static<typeof BrowserTrackSchema>

export type TouchBody = Static<typeof TouchSchema>
