import type { TSchema } from '@sinclair/typebox'
import type { ErrorCode } from '../../errors.ts'

export interface Operation {
  summary: string
  description?: string
  tag:
    | 'Events'
    | 'Contacts'
    | 'Segments'
    | 'Campaigns'
    | 'Messages'
    | 'Analytics'
    | 'Operation'
    | 'Account'
    | 'Settings'
  /**
   * What the caller sends: `secret`, a secret key; `optional`, a key of either kind or none; `publishable`, a key of that kind or
   * none; `session`, the cookie of the dashboard; `none`, nothing.
   */
  key: 'secret' | 'optional' | 'publishable' | 'session' | 'none'
  query?: Record<string, { schema: object; description: string; example?: string; required?: true }>
  /** `media`: accepted media types; JSON only when left out. */
  body?: { schema: TSchema; example?: object; media?: readonly string[] }
  /** Successful answers by status; `message` and `example` belong to one example answer. */
  replies: Record<number, { message: string; description: string; data: TSchema; example?: object }>
  errors: readonly ErrorCode[]
}
