/** The contact's history: its stages, its campaigns, and the contacts that were merged into it. */
import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import { Badge, type BadgeKind } from '../../../parts/value/badge.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { textsOf } from '../../../texts/index.ts'
import styles from './contact.module.css'
import type { Contact, Detail } from './queries.ts'

export function Stages({ stages }: { stages: Detail['stages'] }) {
  const texts = textsOf('contacts')
  return (
    <Section title={texts.stageHistory}>
      <ol className={styles['list']}>
        {stages.map(({ stage, event, at }) => (
          <li key={stage}>
            <span>
              <Badge>{texts.stages[stage]}</Badge> {event !== null && <bdi className="foreign">{event}</bdi>}
            </span>
            <span className="muted small">
              <Time at={at} />
            </span>
          </li>
        ))}
      </ol>
    </Section>
  )
}

type Enrolment = Contact['enrolments'][number]
const KINDS: Partial<Record<Enrolment['state'], BadgeKind>> = { active: 'accent', converted: 'good' }

interface EnrolmentsProps {
  businessId: string
  enrolments: Enrolment[]
  names: Detail['campaignNames']
}

export function Enrolments({ businessId, enrolments, names }: EnrolmentsProps) {
  const texts = textsOf('contacts')
  if (enrolments.length === 0) return null
  return (
    <Section title={texts.campaigns}>
      <ol className={styles['list']}>
        {enrolments.map((one, at) => (
          <EnrolmentItem
            key={at}
            businessId={businessId}
            enrolment={one}
            name={names[one.campaignId] ?? one.campaignId}
          />
        ))}
      </ol>
    </Section>
  )
}

interface EnrolmentItemProps {
  businessId: string
  enrolment: Enrolment
  name: string
}

function EnrolmentItem({ businessId, enrolment, name }: EnrolmentItemProps) {
  const texts = textsOf('contacts')
  const { campaignId, key, state, enrolledAt, endedAt } = enrolment
  return (
    <li>
      <span>
        <Badge kind={KINDS[state] ?? 'neutral'}>{texts.enrolmentStates[state]}</Badge>{' '}
        <Link
          to="/dashboard/b/$businessId/campaigns/$campaignId"
          params={{ businessId, campaignId }}
          className="foreign"
        >
          {name}
        </Link>
        {key !== null && (
          <>
            {' '}
            <bdi className="foreign">{key}</bdi>
          </>
        )}
      </span>
      <span className="muted small">
        {texts.enrolled} <Time at={enrolledAt} />
        {endedAt !== null && (
          <>
            {' '}
            · {texts.ended} <Time at={endedAt} />
          </>
        )}
      </span>
    </li>
  )
}

export function Merges({ merges }: { merges: Detail['merges'] }) {
  const texts = textsOf('contacts')
  if (merges.length === 0) return null
  return (
    <Section title={texts.merges}>
      <ol className={styles['list']}>
        {merges.map(({ action, losingId, evidence, recordedAt }, at) => (
          <li key={at}>
            <span>
              {texts.mergeActions[action]}
              {evidence.map(({ kind, value }, place) => (
                <Fragment key={`${kind} ${value}`}>
                  {place === 0 ? ': ' : ', '}
                  <bdi className="foreign">{value}</bdi>
                </Fragment>
              ))}
            </span>
            <span className="muted small">
              <Time at={recordedAt} /> · {texts.otherContact(losingId)}
            </span>
          </li>
        ))}
      </ol>
    </Section>
  )
}
