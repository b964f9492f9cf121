/** Sends all messages of a campaign immediately to a tester's addresses. The route loads the texts of the campaign. */
import { type MessageChannel, MESSAGE_CHANNELS } from '../../rules/channels.ts'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import type { DataOf } from '../../../data-of.ts'
import { Badge, type BadgeKind } from '../../../parts/value/badge.tsx'
import { Button } from '../../../parts/action/button.tsx'
import { Dialog } from '../../../parts/overlay/dialog.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { TextField } from '../../../parts/form/field.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { useCan, useMe } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import type { Campaign, CampaignPath } from '../queries.ts'
import { describeReason, describeStepOf, walkSteps } from '../steps.ts'
import { useStepSpeaker } from '../use-step-speaker.ts'
import { ContactPicker } from '../../contacts/links.ts'
import { Sentence } from '../../rules/show/sentence.tsx'
import styles from './campaign.module.css'

type Sends = DataOf<'/dashboard/api/b/{businessId}/campaigns/{campaignId}/test', 'post'>['sends']

interface TestSequenceProps {
  path: CampaignPath
  campaign: Campaign
  onClose: () => void
}

/** Returns the channels that need an address. A webhook has its address in the settings of the channel. */
const channelsOf = ({ steps }: Campaign): MessageChannel[] => {
  const used = new Set(walkSteps(steps).flatMap((step) => (step.type === 'send' ? [step.channel] : [])))
  return MESSAGE_CHANNELS.filter((channel) => channel !== 'webhook' && used.has(channel))
}

export function TestSequence({ path, campaign, onClose }: TestSequenceProps) {
  const texts = textsOf('test-sequence')
  const { channels: names } = textsOf('campaigns')
  const { user } = useMe()
  const canPick = useCan('contacts:read')
  const [contactId, setContactId] = useState<string>()
  const [sends, setSends] = useState<Sends | null>(null)
  const channels = channelsOf(campaign)
  const form = useForm(async (values) => {
    setSends(null)
    const to = channels.flatMap((channel) => {
      const address = (values[`to.${channel}`] ?? '').trim()
      return address === '' ? [] : [[channel, address] as const]
    })
    const body = { to: Object.fromEntries(to), ...(contactId !== undefined && { contactId }) }
    const params = { path }
    const tested = await take(api.POST('/dashboard/api/b/{businessId}/campaigns/{campaignId}/test', { params, body }))
    setSends(tested.sends)
  })
  return (
    <Dialog title={texts.title} size="wide" onClose={onClose}>
      <form {...form.props} className="stack" noValidate>
        <p>{texts.intro}</p>
        {channels.map((channel) => (
          <TextField
            key={channel}
            name={`to.${channel}`}
            label={texts.addresses[channel] ?? names[channel]}
            hint={texts.emptyHint}
            error={form.issueOf(`to.${channel}`)}
            inputMode={channel === 'email' ? 'email' : channel === 'push' ? 'text' : 'tel'}
            autoComplete="off"
            spellCheck={false}
            dir="ltr"
            defaultValue={channel === 'email' ? user.email : undefined}
          />
        ))}
        {canPick && (
          <div className="row">
            <ContactPicker
              businessId={path.businessId}
              contactId={contactId}
              label={texts.anybody}
              onChoose={setContactId}
            />
            <span className="muted small">{texts.contactHint}</span>
          </div>
        )}
        <ErrorBox error={form.error} />
        <div role="status">
          {sends !== null && <Outcomes sends={sends} campaign={campaign} businessId={path.businessId} />}
        </div>
        <div className="actions">
          <Button onClick={onClose}>{textsOf('shell').close}</Button>
          <Button kind="primary" type="submit" icon="send" isPending={form.isPending}>
            {texts.send}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

const KINDS: Partial<Record<Sends[number]['outcome'], BadgeKind>> = {
  accepted: 'good',
  refused: 'bad',
  template_failed: 'bad',
  temporary: 'warn',
  unknown: 'warn',
}

function Outcomes({ sends, campaign, businessId }: { sends: Sends; campaign: Campaign; businessId: string }) {
  const texts = textsOf('test-sequence')
  const speaker = useStepSpeaker(businessId)
  if (sends.length === 0) return <p>{texts.nothing}</p>
  return (
    <ol aria-label={texts.outcome} className={styles['sends']}>
      {sends.map(({ stepId, outcome, provider, reason }, at) => (
        <li key={at} className="stack">
          <p className="row">
            <Badge kind={KINDS[outcome] ?? 'neutral'}>{texts.outcomes[outcome]}</Badge>
            <Sentence parts={describeStepOf(campaign.steps, stepId, speaker)} />
            {provider === 'log' && <span className="muted">{texts.logged}</span>}
          </p>
          {reason !== undefined && (
            <p className="muted">
              {provider !== null && `${texts.says} `}
              <bdi className="foreign">{outcome === 'skipped' ? describeReason(reason) : reason}</bdi>
            </p>
          )}
        </li>
      ))}
    </ol>
  )
}
