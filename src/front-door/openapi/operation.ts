import type { TSchema } from '@sinclair/typebox'
import type { ErrorCode } from '../../errors.ts'

export interface Operation {
  summary: string
  description?: string
  tag: 'Events' | 'Contacts' | 'Campaigns' | 'Analytics' | 'Operation'
  /** The key of the caller: `secret` is required; `optional` is either kind or none; `publishable` is that kind or none. */
  key: 'secret' | 'optional' | 'publishable'
  query?: Record<string, { schema: object; description: string; example?: string }>
  /** `media`: accepted media types; JSON only when left out. */
  body?: { schema: TSchema; example: object; media?: readonly string[] }
  /** Successful answers by status; `message` and `example` belong to one example answer. */
  replies: Record<number, { message: string; description: string; data: TSchema; example: object }>
  errors: readonly ErrorCode[]
}
