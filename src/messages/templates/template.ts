import type { MessageChannel } from '../../rules/messages/message-channel.ts'

export { MESSAGE_CHANNELS, type MessageChannel } from '../../rules/messages/message-channel.ts'

/** The parts of a message in one language, as they were sent. The channel determines which parts exist. */
export interface Variant {
  subject?: string
  html?: string
  /** Compiled to HTML when it is saved. */
  mjml?: string
  text?: string
  title?: string
  body?: string
  url?: string
  /** The name of a template that the WhatsApp provider has approved, its language there, and its parameters. */
  providerTemplate?: string
  providerLanguage?: string
  parameters?: string[]
}

/** By language. */
export type Variants = Record<string, Variant>

/** Everything that a rendering needs. A version never changes. */
export interface TemplateVersion {
  templateId: string
  version: number
  channel: MessageChannel
  defaultLanguage: string
  variants: Variants
  /** By language: the HTML of the MJML variants. */
  compiled: Record<string, string>
}

/** What a template reads of the data of a send call. */
export interface DataReads {
  readsData: boolean
  /** By language: the names directly under `data`, each of which a call must send. */
  dataNames: Record<string, string[]>
}

/** A template as callers see it. Instants are ISO 8601 UTC. */
export interface Template extends Omit<TemplateVersion, 'compiled'> {
  name: string
  /** The sender of its messages. Absent: the campaign's, or the channel's default. */
  sender?: string
  createdAt: string
  updatedAt: string
}

export type ListedTemplate = Omit<Template, 'variants'> & { languages: string[] }

/** A message as it is handed to a transport, before tracking. */
export interface RenderedMessage extends Omit<Variant, 'mjml'> {
  language: string
}

/** `failed`: because of the template or its values. The reason contains no value. */
export type Rendering = { kind: 'rendered'; message: RenderedMessage } | { kind: 'failed'; reason: string }
