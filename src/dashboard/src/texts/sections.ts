/** The sections of texts. English is the type: German and Hebrew have the same keys. (The English `errors` has only some: translate-error.ts.) */
import type { EnglishErrorTexts, ErrorTexts } from './error-texts.ts'
import type { texts as account } from './en/account.ts'
import type { texts as analytics } from './en/analytics.ts'
import type { texts as attribution } from './en/attribution.ts'
import type { texts as backtest } from './en/backtest.ts'
import type { texts as boards } from './en/boards.ts'
import type { texts as campaignEditor } from './en/campaign-editor.ts'
import type { texts as campaigns } from './en/campaigns.ts'
import type { texts as channels } from './en/channels.ts'
import type { texts as contacts } from './en/contacts.ts'
import type { texts as customFields } from './en/custom-fields.ts'
import type { texts as deliveries } from './en/deliveries.ts'
import type { texts as drafts } from './en/drafts.ts'
import type { texts as home } from './en/home.ts'
import type { texts as imports } from './en/imports.ts'
import type { texts as journeys } from './en/journeys.ts'
import type { texts as live } from './en/live.ts'
import type { texts as messaging } from './en/messaging.ts'
import type { texts as operations } from './en/operations.ts'
import type { texts as reference } from './en/reference.ts'
import type { texts as segmentRules } from './en/segment-rules.ts'
import type { texts as segments } from './en/segments.ts'
import type { texts as senders } from './en/senders.ts'
import type { texts as settings } from './en/settings.ts'
import type { texts as shell } from './en/shell.ts'
import type { texts as signIn } from './en/sign-in.ts'
import type { texts as simulation } from './en/simulation.ts'
import type { texts as sql } from './en/sql.ts'
import type { texts as suppressions } from './en/suppressions.ts'
import type { texts as templates } from './en/templates.ts'
import type { texts as testSend } from './en/test-send.ts'
import type { texts as testSequence } from './en/test-sequence.ts'
import type { texts as web } from './en/web.ts'

export interface Sections {
  account: typeof account
  analytics: typeof analytics
  backtest: typeof backtest
  attribution: typeof attribution
  boards: typeof boards
  'campaign-editor': typeof campaignEditor
  campaigns: typeof campaigns
  channels: typeof channels
  contacts: typeof contacts
  'custom-fields': typeof customFields
  deliveries: typeof deliveries
  drafts: typeof drafts
  errors: ErrorTexts | EnglishErrorTexts
  home: typeof home
  imports: typeof imports
  journeys: typeof journeys
  live: typeof live
  messaging: typeof messaging
  operations: typeof operations
  reference: typeof reference
  'segment-rules': typeof segmentRules
  segments: typeof segments
  senders: typeof senders
  settings: typeof settings
  shell: typeof shell
  'sign-in': typeof signIn
  sql: typeof sql
  simulation: typeof simulation
  suppressions: typeof suppressions
  templates: typeof templates
  'test-send': typeof testSend
  'test-sequence': typeof testSequence
  web: typeof web
}
export type Section = keyof Sections
