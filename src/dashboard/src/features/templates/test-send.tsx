/**
 * Sends one test message to an address and shows the provider's answer. The route loads the texts `test-send` and
 * `campaigns`.
 */
import { useState } from 'react'
import { isLoginRefusal } from '../../../../rules/messages/blame.ts'
import { api, take } from '../../client.ts'
import type { DataOf } from '../../data-of.ts'
import { Button } from '../../parts/action/button.tsx'
import { Dialog } from '../../parts/overlay/dialog.tsx'
import { ErrorBox } from '../../parts/feedback/error-box.tsx'
import { TextField } from '../../parts/form/field.tsx'
import { useForm } from '../../parts/form/use-form.ts'
import { useMe } from '../../session/session.ts'
import { textsOf } from '../../texts/index.ts'
import type { ListedTemplate } from './queries.ts'

type Tested = DataOf<'/dashboard/api/b/{businessId}/channels/{channel}/test', 'post'>

interface TestSendProps {
  businessId: string
  channel: ListedTemplate['channel']
  /** Undefined: sends a short text of Sluice. */
  template?: { templateId: string; name: string; contactId: string | undefined; language: string | undefined }
  onClose: () => void
}

const ADDRESSES = { email: 'email', sms: 'phone', whatsapp: 'phone', push: 'contactId' } as const

export function TestSend({ businessId, channel, template, onClose }: TestSendProps) {
  const texts = textsOf('test-send')
  const { user } = useMe()
  const [tested, setTested] = useState<Tested | null>(null)
  const needsAddress = channel !== 'webhook'
  const form = useForm(async ({ to = '' }) => {
    setTested(null)
    const { templateId, contactId, language } = template ?? {}
    const body = {
      // The `log` provider needs no address for a push message.
      ...(needsAddress && (channel !== 'push' || to.trim() !== '') && { to: to.trim() }),
      ...(templateId !== undefined && { templateId }),
      ...(contactId !== undefined && { contactId }),
      ...(language !== undefined && { language }),
    }
    const params = { path: { businessId, channel } }
    setTested(await take(api.POST('/dashboard/api/b/{businessId}/channels/{channel}/test', { params, body })))
  })
  return (
    <Dialog title={texts.titles[channel]} onClose={onClose}>
      <form {...form.props} className="stack" noValidate>
        <p>{template === undefined ? texts.short : texts.ofTemplate(template.name)}</p>
        {needsAddress && (
          <TextField
            name="to"
            label={texts[ADDRESSES[channel]]}
            hint={channel === 'push' ? texts.contactIdHint : undefined}
            inputMode={channel === 'email' ? 'email' : channel === 'push' ? 'text' : 'tel'}
            autoComplete="off"
            dir="ltr"
            defaultValue={channel === 'email' ? user.email : undefined}
            error={form.issueOf('to')}
          />
        )}
        <ErrorBox error={form.error} />
        <Outcome tested={tested} />
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

function describeOutcome({ provider, outcome, reason = '' }: Tested): string {
  const { outcomes, loginRefused } = textsOf('test-send')
  // Trying again would not help, whatever the outcome is called.
  if (provider === 'smtp' && outcome === 'temporary' && isLoginRefusal(reason)) return loginRefused
  return outcomes[outcome as keyof typeof outcomes] ?? outcome
}

function Outcome({ tested }: { tested: Tested | null }) {
  const texts = textsOf('test-send')
  return (
    <div role="status">
      {tested !== null && (
        <>
          <p>
            {describeOutcome(tested)}
            {tested.accepted && tested.provider === 'log' && ` ${texts.logged}`}
          </p>
          {tested.reason !== undefined && (
            <p>
              {texts.reason} <bdi className="foreign">{tested.reason}</bdi>
            </p>
          )}
        </>
      )}
    </div>
  )
}
