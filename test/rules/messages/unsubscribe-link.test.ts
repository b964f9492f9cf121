/** Which languages of an email template have no link to unsubscribe. */
import { expect, it } from 'vitest'
import { languagesWithoutUnsubscribe, warnOfUnsubscribe } from '../../../src/rules/messages/unsubscribe-link.ts'

it.each([
  ['HTML with the link', { html: '<a href="{{unsubscribeUrl}}">Unsubscribe</a>' }],
  ['HTML with a link to the preferences', { html: '<a href="{{ preferencesUrl }}">Preferences</a>' }],
  ['MJML with the link', { mjml: '<mj-text><a href="{{unsubscribeUrl}}">Out</a></mj-text>' }],
  ['a text alone, with the link', { text: 'Unsubscribe: {{unsubscribeUrl}}' }],
  ['HTML that takes it through a variable', { html: '{% assign out = unsubscribeUrl %}<a href="{{out}}">Out</a>' }],
  ['HTML that asks for a confirmation', { html: '<a href="{{confirmUrl}}">Confirm</a>' }],
  ['nothing written yet', {}],
])('not %s', (_, mail) => {
  expect(languagesWithoutUnsubscribe({ en: mail })).toEqual([])
})

it.each([
  ['HTML without it', { html: '<p>Hello</p>' }],
  [
    'HTML without it, beside a text with it that most people never see',
    { html: '<p>Hi</p>', text: '{{unsubscribeUrl}}' },
  ],
  ['MJML without it', { mjml: '<mj-text>Hello</mj-text>' }],
  ['a text alone, without it', { text: 'Hello' }],
  ['another value of a similar name', { text: '{{contact.customFields.myunsubscribeUrls}}' }],
])('%s', (_, mail) => {
  expect(languagesWithoutUnsubscribe({ en: { text: '{{unsubscribeUrl}}' }, de: mail })).toEqual(['de'])
})

it('the warning names the languages', () => {
  expect(warnOfUnsubscribe('steps[0].template', ['de', 'en'])).toBe(
    'steps[0].template has no link to unsubscribe (de, en): in a marketing mail, link to {{unsubscribeUrl}} or {{preferencesUrl}}',
  )
})
