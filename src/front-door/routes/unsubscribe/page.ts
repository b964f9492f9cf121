/** The page on which people unsubscribe: plain HTML without scripts. */
import { createHash } from 'node:crypto'
import type { Preferences } from '../../../messages/unsubscribe/read-preferences.ts'
import { CHANNELS, type Channel } from '../../../rules/events/facts.ts'
import { chooseLanguage } from '../../../rules/messages/choose-language.ts'
import { PAGE_LANGUAGES, type PageLanguage } from '../../../rules/page-language.ts'
import { type PageTopic, boxesOf } from '../../../messages/unsubscribe/page-topics.ts'
import { button, escape, form } from './html.ts'
import { channelForm, topicSection } from './topic-forms.ts'
import { PAGE_TEXTS, type PageTexts } from './texts.ts'

const STYLE = `
:root { color-scheme: light dark; font: 1.0625rem/1.5 system-ui, sans-serif; }
body { margin: 0; }
main { max-width: 34rem; margin: 0 auto; padding: 2rem 1.25rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; }
h2 { font-size: 1.125rem; margin-top: 2.5rem; }
ul { list-style: none; padding: 0; }
li { margin: 1rem 0; }
h3 { font-size: 1rem; margin: 1.5rem 0 0.5rem; }
form, p { margin: 0.5rem 0; }
label { display: inline-block; padding: 0.5rem 0; }
input[type='checkbox'] { width: 1.25rem; height: 1.25rem; vertical-align: middle; }
button { font: inherit; padding: 0.5rem 1rem; min-height: 2.75rem; border: 1px solid; border-radius: 0.375rem; cursor: pointer; }
[role='status'] { padding: 0.75rem 1rem; border: 1px solid; border-radius: 0.375rem; font-weight: 600; }
`

/** The address of the page contains the token, so the page sends it to no other site. */
export const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex, nofollow',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

export type PageStatus = 'didEnd' | 'didResume' | 'didNotResume' | 'didSave' | 'received'

export interface ShownPage {
  preferences: Preferences & { contactId: string }
  /** Channels that the link is for. */
  own: readonly Channel[]
  /** The topic that the link is for; null: none. */
  topic: PageTopic | null
  /** Outcome of the form that was just sent. */
  status: PageStatus | null
}

export function showPreferences({ preferences, own, topic, status }: ShownPage): string {
  const language = languageOf(preferences)
  const texts = PAGE_TEXTS[language]
  const others = CHANNELS.filter((channel) => !own.includes(channel)).flatMap((channel) =>
    itemOf(preferences, channel, texts),
  )
  const subscribed = CHANNELS.filter((channel) => preferences.choices[channel]?.subscribed)
  return documentOf(language, texts.title(preferences.business.name), [
    ...(status === null ? [] : [`<p role="status">${escape(texts[status])}</p>`]),
    ...(own.length === 1 ? own.map((channel) => ownParts(preferences, channel, topic, texts)) : []),
    `<h2 id="preferences">${escape(texts.preferences)}</h2>`,
    hasBoxes(preferences)
      ? CHANNELS.map((channel) => channelForm(preferences, channel, texts)).join('')
      : own.length > 1
        ? listOf(
            own.flatMap((channel) => itemOf(preferences, channel, texts)),
            texts,
          )
        : listOf(others, texts),
    ...(subscribed.length > 1 || own.length > 1 ? [form(button('end', 'all', texts.endAll))] : []),
    `<p>${escape(texts.note)}</p>`,
  ])
}

/** Returns a page with one sentence. */
export function showSentence(
  sentence: 'erased' | 'inert' | 'notFound' | 'tooMany' | 'failed',
  { business, language: wanted }: { business?: { name: string }; language?: string | null } = {},
): string {
  const language = languageOf({ language: wanted ?? null })
  const texts = PAGE_TEXTS[language]
  const title = business === undefined ? texts.preferences : texts.title(business.name)
  return documentOf(language, title, [`<p>${escape(texts[sentence])}</p>`])
}

/** Returns a page that asks a person to confirm an opt-in, or shows the outcome. */
export function showConfirmation(
  { business, language: wanted }: { business: { name: string }; language: string | null },
  status: 'confirm' | 'didConfirm' | 'didNotConfirm' | 'received',
): string {
  const language = languageOf({ language: wanted })
  const texts = PAGE_TEXTS[language]
  const sentence = status === 'confirm' ? texts.confirm(business.name) : texts[status]
  const confirm = `<form method="post"><button>${escape(texts.confirmButton)}</button></form>`
  return documentOf(language, texts.title(business.name), [
    `<p role="status">${escape(sentence)}</p>`,
    ...(status === 'confirm' ? [confirm] : []),
  ])
}

const languageOf = ({ language }: Pick<Preferences, 'language'>): PageLanguage =>
  PAGE_LANGUAGES.find((one) => one === chooseLanguage(language, PAGE_LANGUAGES, 'en')) ?? 'en'

/** For a link with a topic, the topic comes first, and then everything by the channel. */
function ownParts(preferences: Preferences, channel: Channel, topic: PageTopic | null, texts: PageTexts): string {
  const choice = preferences.choices[channel]
  // The form below, which has the boxes, opens the channel again.
  if (choice !== undefined && !choice.subscribed && hasBoxes(preferences))
    return `<p>${escape(texts.isEnded(texts.channels[channel]))}</p>`
  const ofTopic = topic === null || !choice?.subscribed ? '' : topicSection(preferences, topic, channel, texts)
  return ofTopic + ownSection(preferences, channel, texts)
}

/** Whether any channel has a topic to show. */
const hasBoxes = ({ topics }: Preferences): boolean => CHANNELS.some((channel) => boxesOf(topics, channel).length > 0)

/** Also offers to unsubscribe without an opt-in: the link may be from a message that needs none. */
function ownSection({ choices }: Preferences, channel: Channel, texts: PageTexts): string {
  const name = texts.channels[channel]
  const choice = choices[channel]
  if (choice === undefined) return form(button('end', channel, texts.end(name)))
  return choiceOf(choice, channel, texts)
}

/** Returns an item only for channels with a choice. */
function itemOf({ choices }: Preferences, channel: Channel, texts: PageTexts): string[] {
  const choice = choices[channel]
  return choice === undefined ? [] : [`<li>${choiceOf(choice, channel, texts)}</li>`]
}

function choiceOf(choice: NonNullable<Preferences['choices'][Channel]>, channel: Channel, texts: PageTexts): string {
  const name = texts.channels[channel]
  if (choice.subscribed)
    return `<p>${escape(texts.isSubscribed(name))}</p>${form(button('end', channel, texts.end(name)))}`
  const resume = choice.mayResume ? form(button('resume', channel, texts.resume(name))) : ''
  return `<p>${escape(texts.isEnded(name))}</p>${resume}`
}

const listOf = (items: string[], texts: PageTexts): string =>
  items.length === 0 ? `<p>${escape(texts.nothingElse)}</p>` : `<ul>${items.join('')}</ul>`

function documentOf(language: PageLanguage, title: string, parts: string[]): string {
  return `<!doctype html>
<html lang="${language}" dir="${language === 'he' ? 'rtl' : 'ltr'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${escape(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1><bdi>${escape(title)}</bdi></h1>
${parts.join('\n')}
</main>
</body>
</html>
`
}
