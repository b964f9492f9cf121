/** One request: what was sent, the answer, and the effects. */
import { useQuery } from '@tanstack/react-query'
import { Fragment, type ReactNode } from 'react'
import { formatNumber } from '../../../format.ts'
import { ButtonLink } from '../../../parts/action/button.tsx'
import { Code, Copy } from '../../../parts/value/code.tsx'
import { Dialog } from '../../../parts/overlay/dialog.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { textsOf } from '../../../texts/index.ts'
import { curlOf } from './curl.ts'
import styles from './live.module.css'
import { OutcomeBadge } from './outcome-badge.tsx'
import { requestQuery } from './queries.ts'

export function RequestDialog(props: { businessId: string; requestId: string; onClose: () => void }) {
  const { businessId, requestId, onClose } = props
  const texts = textsOf('live')
  const { data, error, isPending, refetch } = useQuery(requestQuery(businessId, requestId))
  const contactId = data?.contactId ?? null
  return (
    <Dialog
      title={data?.event ?? texts.request}
      size="wide"
      onClose={onClose}
      footer={
        data && (
          <>
            {contactId !== null && (
              <ButtonLink to="/dashboard/b/$businessId/contacts/$contactId" params={{ businessId, contactId }}>
                {texts.openContact}
              </ButtonLink>
            )}
            <Copy label={texts.curl} what={curlOf(data, location.origin)} />
          </>
        )
      }
    >
      <ErrorBox error={error} onRetry={() => void refetch()} />
      {isPending && <Loading lines={6} />}
      {data && (
        <div className="stack">
          <Facts
            facts={[
              [texts.outcome, <OutcomeBadge key="" outcome={data.outcome} />],
              [texts.time, <Time key="" at={data.at} as="clock" />],
              [texts.request, <code key="" dir="ltr">{`${data.method} ${data.route}${data.query}`}</code>],
              [texts.status, data.code === '' ? data.status : `${data.status} ${data.code}`],
              [texts.duration, texts.milliseconds(formatNumber(data.ms))],
              [texts.key, data.key && <code key="">{data.key}</code>],
              [texts.requestId, <code key="">{data.requestId}</code>],
            ]}
          />
          <section>
            <h3>{texts.did}</h3>
            <p className="foreign">{data.message}</p>
            <Facts facts={readEffects(data.answer)} />
          </section>
          <Lines title={texts.warnings} lines={data.warnings} />
          <Lines title={texts.issues} lines={data.issues.map(({ path, message }) => `${path}: ${message}`)} />
          {data.body === null ? (
            <p className="muted">{texts.noBody}</p>
          ) : (
            <Code label={texts.sent} text={JSON.stringify(data.body, null, 2)} />
          )}
          {data.answer != null && <Code label={texts.answer} text={JSON.stringify(data.answer, null, 2)} />}
        </div>
      )}
    </Dialog>
  )
}

/** Returns how the server interpreted the event. */
function readEffects(answer: unknown): [string, ReactNode][] {
  const { interpreted } = (answer ?? {}) as { interpreted?: unknown }
  if (typeof interpreted !== 'object' || interpreted === null) return []
  return Object.entries(interpreted).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
}

function Facts({ facts }: { facts: [string, ReactNode][] }) {
  if (facts.length === 0) return null
  return (
    <dl className={styles['facts']}>
      {facts.map(
        ([name, value]) =>
          value != null && (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd className="foreign">{value}</dd>
            </Fragment>
          ),
      )}
    </dl>
  )
}

function Lines({ title, lines }: { title: string; lines: readonly string[] }) {
  if (lines.length === 0) return null
  return (
    <section>
      <h3>{title}</h3>
      <ul>
        {lines.map((line) => (
          <li key={line} className="foreign">
            {line}
          </li>
        ))}
      </ul>
    </section>
  )
}
