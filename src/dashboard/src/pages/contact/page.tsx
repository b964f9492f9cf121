import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { api, apply } from '../../client.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Empty } from '../../parts/empty.tsx'
import { ErrorBox } from '../../parts/error-box.tsx'
import { CheckboxField } from '../../parts/field.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { showError, showToast } from '../../parts/toast.tsx'
import { Money, Num, Time } from '../../parts/values.tsx'
import { useCan } from '../../session/session.ts'
import { textsOf } from '../../texts/index.ts'
import { nameOf } from '../contacts/show-contact.ts'
import styles from './contact.module.css'
import { EditProfile, PROFILE_FIELDS } from './edit-profile.tsx'
import { type Contact, type ContactPath, contactQuery, timelineQuery } from './queries.ts'

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
      intro={<Badge>{contact.stage}</Badge>}
      actions={<Actions path={path} contact={contact} />}
    >
      <div className={styles['columns']}>
        <div className={styles['who']}>
          <Section title={texts.identities}>
            <Pairs
              pairs={(['email', 'phone', 'platformCustomerId'] as const).flatMap((kind) =>
                contact.identities[kind].map((value) => [texts[kind], value] as const),
              )}
            />
          </Section>
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
                pairs={Object.entries(contact.customFields).map(([key, value]) => [key, String(value)] as const)}
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
          <Consent path={path} contact={contact} />
        </div>
        <div className={styles['what']}>
          <Statistics contact={contact} />
          <Timeline path={path} />
        </div>
      </div>
    </Page>
  )
}

function Pairs({ pairs }: { pairs: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={styles['pairs']}>
      {pairs.map(([label, value], at) => (
        <div key={at}>
          <dt className="muted">
            <bdi>{label}</bdi>
          </dt>
          <dd className="foreign">{value ?? '–'}</dd>
        </div>
      ))}
    </dl>
  )
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
        <a className={styles['link']} href={`/dashboard/api/b/${businessId}/contacts/${contactId}/export`} download>
          {texts.exportAction}
        </a>
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

const CHANNELS = ['email', 'sms', 'whatsapp', 'push'] as const

function Consent({ path, contact }: { path: ContactPath; contact: Contact }) {
  const texts = textsOf('contacts')
  const client = useQueryClient()
  const canEdit = useCan('contacts:write')
  const [pending, setPending] = useState<string>()
  const choose = async (channel: (typeof CHANNELS)[number], isOn: boolean) => {
    setPending(channel)
    try {
      const body = { [channel]: isOn, method: 'dashboard' }
      await apply(
        api.PUT('/dashboard/api/b/{businessId}/contacts/{contactId}/subscriptions', { params: { path }, body }),
      )
      await client.invalidateQueries({ queryKey: ['contact', path] })
      showToast(texts.consentSaved)
    } catch (error) {
      showError(error as Error)
    } finally {
      setPending(undefined)
    }
  }
  return (
    <Section title={texts.consent}>
      {CHANNELS.map((channel) => (
        <CheckboxField
          key={channel}
          name={channel}
          label={texts[channel]}
          checked={contact.subscriptions[channel]}
          disabled={!canEdit || pending !== undefined}
          onChange={(event) => void choose(channel, event.target.checked)}
        />
      ))}
    </Section>
  )
}

function Statistics({ contact: { events } }: { contact: Contact }) {
  const texts = textsOf('contacts')
  if (events.length === 0) return null
  return (
    <Section title={texts.statistics}>
      <table className={styles['statistics']}>
        <thead>
          <tr>
            <th scope="col">{texts.event}</th>
            <th scope="col">{texts.times}</th>
            <th scope="col">{texts.last}</th>
          </tr>
        </thead>
        <tbody>
          {events.map(({ event, count, lastAt }) => (
            <tr key={event}>
              <th scope="row" className="foreign">
                <bdi>{event}</bdi>
              </th>
              <td>
                <Num value={count} />
              </td>
              <td>
                <Time at={lastAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  )
}

function Timeline({ path }: { path: ContactPath }) {
  const texts = textsOf('contacts')
  const timeline = useInfiniteQuery(timelineQuery(path))
  const events = timeline.data?.pages.flatMap((page) => page.events) ?? []
  return (
    <Section title={texts.timeline}>
      <ErrorBox error={timeline.error} onRetry={() => void timeline.refetch()} />
      {timeline.isPending && <Loading />}
      {timeline.data !== undefined && events.length === 0 && <Empty icon="list" title={texts.noEvents} />}
      <ol className={styles['timeline']}>
        {events.map((event) => (
          <li key={event.eventId}>
            <details>
              <summary>
                <bdi className="foreign">{event.event}</bdi>
                {event.value !== null && event.currency !== null && (
                  <Money amount={event.value} currency={event.currency} />
                )}
                <span className="muted small">
                  <Time at={event.occurredAt} />
                </span>
              </summary>
              <pre className="foreign small">{JSON.stringify(event.properties, null, 2)}</pre>
            </details>
          </li>
        ))}
      </ol>
      {timeline.hasNextPage && (
        <Button isPending={timeline.isFetchingNextPage} onClick={() => void timeline.fetchNextPage()}>
          {texts.more}
        </Button>
      )}
    </Section>
  )
}
