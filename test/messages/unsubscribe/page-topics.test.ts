import { expect, it } from 'vitest'
import { type PageTopic, chosenBoxes } from '../../../src/messages/unsubscribe/page-topics.ts'

const topicWith = (more: Partial<PageTopic>): PageTopic => ({
  key: 'news',
  channels: ['email'],
  defaultOn: false,
  isPublic: true,
  isActive: true,
  names: { en: { name: 'News' } },
  defaultLanguage: 'en',
  choices: [],
  usedUp: [],
  ...more,
})
const choice = { channel: 'email' as const, subscribed: true }

it.each<[string, Partial<PageTopic>, boolean]>([
  ['a public topic', {}, true],
  ['a private topic that the contact gets', { isPublic: false, choices: [choice] }, true],
  ['a private topic that it does not get, whatever the form was shown with', { isPublic: false }, false],
  ['an archived topic', { isActive: false, choices: [choice] }, false],
])('a form that opens the channel again joins, or does not join, %s', (_, topic, joins) => {
  const boxes = { shown: new Map([['news', true]]), on: new Set(['news']) }
  const chosen = chosenBoxes([topicWith(topic)], 'email', boxes, true)
  expect(chosen).toEqual(joins ? [{ topic: 'news', channel: 'email', subscribed: true }] : [])
})
