/** The parts of the page about topics: what a link ends, and one form for each channel. */
import type { Preferences } from '../../../messages/unsubscribe/read-preferences.ts'
import { type PageTopic, boxesOf, isShownAs } from '../../../messages/unsubscribe/page-topics.ts'
import type { Channel } from '../../../rules/events/facts.ts'
import { chooseLanguage } from '../../../rules/messages/choose-language.ts'
import { button, escape, form } from './html.ts'
import type { PageTexts } from './texts.ts'

/** The topic that the link of a message ends, beside its channel. Empty: the contact does not get it. */
export function topicSection(preferences: Preferences, topic: PageTopic, channel: Channel, texts: PageTexts): string {
  const { name } = nameOf(topic, preferences.language)
  return isShownAs(topic, channel)
    ? `<p>${escape(texts.isSubscribed(name))}</p>${form(button('end', 'topic', texts.end(name)))}`
    : `<p>${escape(texts.isEnded(name))}</p>`
}

/** A box for each topic of an open channel, or of one that the page may open again. */
export function channelForm(preferences: Preferences, channel: Channel, texts: PageTexts): string {
  const choice = preferences.choices[channel]
  if (choice === undefined) return ''
  const heading = `<h3>${escape(texts.channels[channel])}</h3>`
  if (!choice.subscribed && !choice.mayResume)
    return `${heading}<p>${escape(texts.isEnded(texts.channels[channel]))}</p>`
  const boxes = boxesOf(preferences.topics, channel).map((topic) => boxOf(topic, channel, preferences.language))
  const name = texts.channels[channel]
  return choice.subscribed
    ? `${heading}${form(...boxes, button('save', channel, texts.save))}${form(button('end', channel, texts.end(name)))}`
    : `${heading}<p>${escape(texts.isEnded(name))}</p>${form(...boxes, button('resume', channel, texts.resume(name)))}`
}

function boxOf(topic: PageTopic, channel: Channel, language: string | null): string {
  const { name, description } = nameOf(topic, language)
  const is = isShownAs(topic, channel)
  const box = `<input type="checkbox" name="on" value="${topic.key}"${is ? ' checked' : ''}>`
  const about = description === undefined ? '' : `<p>${escape(description)}</p>`
  const shown = `<input type="hidden" name="shown" value="${topic.key} ${is ? 'on' : 'off'}">`
  return `<div>${shown}<label>${box} <bdi>${escape(name)}</bdi></label>${about}</div>`
}

function nameOf(
  { names, defaultLanguage }: PageTopic,
  language: string | null,
): { name: string; description?: string } {
  return names[chooseLanguage(language, Object.keys(names), defaultLanguage)] ?? { name: '' }
}
