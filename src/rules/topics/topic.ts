/** Topics: what a person chooses within a channel (topics, "Topics and the preference centre"). */
import type { StoredConsent } from '../contact-parts.ts'
import { CHANNELS, type Channel } from '../events/facts.ts'

export const TOPIC_DEFAULTS = ['subscribed', 'unsubscribed'] as const
export const TOPIC_VISIBILITIES = ['public', 'private'] as const
export const TOPIC_STATUSES = ['active', 'archived'] as const

/** What one click in a mail program, and a form without a choice, end in a message of a topic. */
export const ONE_CLICKS = ['topic', 'channel'] as const
export type OneClick = (typeof ONE_CLICKS)[number]

/** Active ones of a business. */
export const MAX_TOPICS = 100
/** With archived ones. */
export const MAX_TOPICS_EVER = 1000
export const MAX_TOPIC_KEY = 64
export const MAX_TOPIC_LANGUAGES = 50
export const MAX_TOPIC_NAME = 100
export const MAX_TOPIC_DESCRIPTION = 500
export const MAX_TOPIC_POSITION = 1_000_000
export const TOPIC_KEY = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/

export interface TopicName {
  name: string
  description?: string
}

/** A topic as callers see it. */
export interface Topic {
  key: string
  /** In the order of `CHANNELS`. */
  channels: Channel[]
  default: (typeof TOPIC_DEFAULTS)[number]
  visibility: (typeof TOPIC_VISIBILITIES)[number]
  /** By language. */
  names: Record<string, TopicName>
  defaultLanguage: string
  position: number
  /** Null: that of the business. */
  confirmationTemplate: string | null
  status: (typeof TOPIC_STATUSES)[number]
}

/** What decisions read of a topic. */
export interface TopicRules {
  channels: readonly Channel[]
  /** Whether a contact without a choice gets it. */
  defaultOn: boolean
  isActive: boolean
}

/** A topic by one channel. */
export type TopicChannel = `${string} ${Channel}`
export type TopicChoices = Partial<Record<TopicChannel, StoredConsent>>

export const topicChannel = (topic: string, channel: Channel): TopicChannel => `${topic} ${channel}`

export function readTopicChannel(name: string): { topic: string; channel: Channel } | null {
  const [topic = '', channel] = name.split(' ')
  const known = CHANNELS.find((one) => one === channel)
  return known === undefined ? null : { topic, channel: known }
}

/** Returns whether a contact with this choice gets a topic, as far as the topic decides. */
export const isChosen = (choice: Pick<StoredConsent, 'subscribed'> | undefined, defaultOn: boolean): boolean =>
  choice?.subscribed ?? defaultOn

/** In the order in which the page shows them. */
export const inOrder = <One extends Pick<Topic, 'position' | 'key'>>(topics: readonly One[]): One[] =>
  topics.toSorted((a, b) => a.position - b.position || (a.key < b.key ? -1 : 1))
