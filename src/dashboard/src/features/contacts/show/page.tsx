import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Suspense, lazy, useState } from 'react'
import { api, apply } from '../../../client.ts'
import { Badge } from '../../../parts/value/badge.tsx'
import { AnchorButton, Button } from '../../../parts/action/button.tsx'
import { Confirm } from '../../../parts/overlay/confirm.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Page, Section } from '../../../parts/page/page.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { Money, Num } from '../../../parts/value/values.tsx'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { nameOf } from '../show-contact.ts'
import { Consent } from './consent.tsx'
import styles from './contact.module.css'
import { ContactSegments } from './contact-segments.tsx'
import { EditProfile, PROFILE_FIELDS } from './edit-profile.tsx'
import { Enrolments, Merges, Stages } from './history.tsx'
import { Identities } from './identities.tsx'
import { Pairs } from './pairs.tsx'
import { type Contact, type ContactPath, contactQuery } from './queries.ts'
import { Statistics } from './statistics.tsx'
import { Timeline } from './timeline.tsx'
import { Visits } from './visits.tsx'

const Messages = lazy(() => import('./messages.tsx').then(({ Messages }) => ({ default: Messages })))

export function ContactPage() {
  const texts = textsOf('contacts')
  const path = useParams({ strict: false }) as ContactPath
  const { data, error, refetch } = useQuery(contactQuery(path))
  if (data === undefined) {
    return (
      <Page title={texts.name}>
        {error === null ? <Loading /> : <ErrorBox error={error} onRetry={() => void refetch()} />}
      </Page>
    )
  }
  const { contact } = data
  return (
    <Page
      title={nameOf(contact) ?? texts.unnamed}
      intro={<Badge>{texts.stages[contact.stage]}</Badge>}
      actions={<Actions path={path} contact={contact} />}
    >
      <div className={styles['columns']}>
        <div className={styles['who']}>
          <Identities path={path} contact={contact} />
          <Section title={texts.profile}>
            <Pairs pairs={PROFILE_FIELDS.map((field) => [texts[field], contact[field]] as const)} />
          </Section>
          <Section title={texts.revenue}>
            <Pairs
              pairs={[
                ...Object.entries(contact.revenue.byCurrency).map(
                  ([currency, amount]) =>
                    [currency, <Money key={currency} amount={amount} currency={currency} />] as const,
                ),
                [texts.orders, <Num key="orders" value={contact.orderCount} />],
              ]}
            />
          </Section>
          <Section title={texts.fields}>
            {Object.keys(contact.customFields).length === 0 ? (
              <p className="muted">{texts.noFields}</p>
            ) : (
              <Pairs
                pairs={Object.entries(contact.customFields).map(([key, value]) => [key, sayValue(value)] as const)}
              />
            )}
          </Section>
          {contact.tags.length > 0 && (
            <Section title={texts.tags}>
              <p className="row">
                {contact.tags.map((tag) => (
                  <Badge key={tag}>
                    <bdi>{tag}</bdi>
                  </Badge>
                ))}
              </p>
            </Section>
          )}
          <ContactSegments path={path} contact={contact} />
          <Consent path={path} detail={data} />
        </div>
        <div className={styles['what']}>
          <Stages stages={data.stages} />
          <Enrolments businessId={path.businessId} enrolments={contact.enrolments} names={data.campaignNames} />
          <Suspense>
            <Messages path={path} names={data.campaignNames} />
          </Suspense>
          <Statistics contact={contact} />
          <Timeline path={path} />
          {contact.visitorIds.length > 0 && <Visits path={path} />}
          <Merges merges={data.merges} />
        </div>
      </div>
    </Page>
  )
}

function sayValue(value: unknown): string {
  const texts = textsOf('contacts')
  return typeof value === 'boolean' ? (value ? texts.yes : texts.no) : String(value)
}

function Actions({ path, contact }: { path: ContactPath; contact: Contact }) {
  const texts = textsOf('contacts')
  const [opened, setOpened] = useState<'edit' | 'erase'>()
  const navigate = useNavigate()
  const client = useQueryClient()
  const [canEdit, canExport, canErase] = [useCan('contacts:write'), useCan('contacts:export'), useCan('contacts:erase')]
  const { businessId, contactId } = path
  const erase = async () => {
    await apply(api.DELETE('/dashboard/api/b/{businessId}/contacts/{contactId}', { params: { path } }))
    client.removeQueries({ queryKey: ['contact', path] })
    void client.invalidateQueries({ queryKey: ['contacts', businessId] })
    showToast(texts.erased)
    await navigate({ to: '/dashboard/b/$businessId/contacts', params: { businessId } })
  }
  return (
    <>
      {canEdit && <Button onClick={() => setOpened('edit')}>{texts.edit}</Button>}
      {canExport && (
        <AnchorButton href={`/dashboard/api/b/${businessId}/contacts/${contactId}/export`} download>
          {texts.exportAction}
        </AnchorButton>
      )}
      {canErase && (
        <Button kind="danger" onClick={() => setOpened('erase')}>
          {texts.erase}
        </Button>
      )}
      {opened === 'edit' && <EditProfile path={path} contact={contact} onClose={() => setOpened(undefined)} />}
      {opened === 'erase' && (
        <Confirm
          title={texts.eraseTitle}
          action={texts.erase}
          phrase={texts.erasePhrase}
          onConfirm={erase}
          onClose={() => setOpened(undefined)}
        >
          {texts.eraseText}
        </Confirm>
      )}
    </>
  )
}
