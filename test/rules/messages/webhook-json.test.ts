import { expect, it } from 'vitest'
import { languagesWithBareOutput, warnOfBareOutput } from '../../../src/rules/messages/webhook-json.ts'

const isWarnedOf = (body: string) => languagesWithBareOutput({ en: { body } }).length > 0

it.each([
  '{ "city": "{{ contact.city }}" }',
  '{ "city": {{ contact.city }} }',
  '{ "city": "{{- contact.city | upcase -}}" }',
  '{ "a": {{ contact.city | json }}, "b": "{{ contact.city }}" }',
  '{ "city": "{{ contact.city | default: "json" }}" }',
  '{ "city": {{ contact.city | json | upcase }} }',
  '{ "day": "{{ contact.customFields.day | date: "%Y" }}" }',
  '{ "city": "{{ contact.city\n}}" }',
])('warns of %s', (body) => {
  expect(isWarnedOf(body)).toBe(true)
})

it.each([
  '{ "city": {{ contact.city | json }} }',
  '{ "city": {{ contact.city | upcase | json }} }',
  '{ "spent": {{ contact.revenue }}, "at": {{ "now" | date: "%s" }}, "one": {{ 1 }} }',
  '{ "price": {{ event.properties.price | times: 3 }}, "many": {{ event.properties.items | size }} }',
  '{ "link": "https://x.example/?q={{ contact.city | url_encode }}" }',
  '{ "type": "{% if contact.city == "Rome" %}a{% endif %}" }',
  '{}',
])('does not warn of %s', (body) => {
  expect(isWarnedOf(body)).toBe(false)
})

it('names the languages', () => {
  const languages = languagesWithBareOutput({ en: { body: '{{ contact.city }}' }, de: { body: '{}' }, fr: {} })
  expect(warnOfBareOutput('variants', languages)).toBe(
    'variants has a value without the filter json (en): a quote in it changes the JSON. Write {{contact.city | json}}, without quotes around it',
  )
})
