/** A trigger by an event that the browser script captures automatically. */
import type { WebTriggerName } from '../../../../../rules/campaigns/web-trigger.ts'
import { textsOf } from '../../../texts/index.ts'
import type { Json } from './definition.ts'
import { otherIssues, useCampaignEditing } from './editing.ts'
import { Issues } from './parts.tsx'
import { WhereFields } from './where-fields.tsx'

const OF_PAGE = { path: 'text', host: 'text' } as const
const PROPERTIES = {
  page_view: OF_PAGE,
  scroll_depth: { ...OF_PAGE, depth: 'number' },
  active_time: { ...OF_PAGE, seconds: 'number' },
} as const satisfies Record<WebTriggerName, Record<string, 'text' | 'number'>>

export const WEB_KINDS = Object.keys(PROPERTIES) as WebTriggerName[]

export function WebTrigger({ trigger, kind }: { trigger: Json; kind: WebTriggerName }) {
  const texts = textsOf('campaign-editor')
  const { issues } = useCampaignEditing()
  const labels: Record<string, string> = texts.webProperties
  const properties = Object.entries(PROPERTIES[kind]).map(([value, type]) => ({
    value,
    type,
    label: labels[value] ?? value,
  }))
  return (
    <>
      <p className="muted small">{texts.webHints[kind]}</p>
      <WhereFields path="trigger" where={trigger['where']} properties={properties} add={texts.addPageWhere} />
      <Issues issues={otherIssues(issues, 'trigger', ['trigger.where'])} />
    </>
  )
}
