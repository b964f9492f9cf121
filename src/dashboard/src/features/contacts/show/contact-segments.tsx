/** The segments that the contact is a member of, and why. */
import { Link } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { Button } from '../../../parts/action/button.tsx'
import { Dialog } from '../../../parts/overlay/dialog.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { Explanation } from '../../segments/links.ts'
import { textsOf } from '../../../texts/index.ts'
import styles from './contact.module.css'
import type { Contact, ContactPath } from './queries.ts'

export function ContactSegments({ path, contact }: { path: ContactPath; contact: Contact }) {
  const texts = textsOf('segments')
  const { businessId, contactId } = path
  const [explained, setExplained] = useState<Contact['segments'][number]>()
  const { segments } = contact
  return (
    <Section title={texts.segments}>
      {segments.length === 0 && <p className="muted">{texts.noSegments}</p>}
      <ul className={styles['segments']}>
        {segments.map((segment) => (
          <li key={segment.segmentId}>
            <Link
              to="/dashboard/b/$businessId/segments/$segmentId"
              params={{ businessId, segmentId: segment.segmentId }}
              className="foreign"
            >
              {segment.name}
            </Link>
            <span className="muted small">
              {texts.since} <Time at={segment.enteredAt} />
            </span>
            <Button size="small" aria-label={texts.explainOf(segment.name)} onClick={() => setExplained(segment)}>
              {texts.explain}
            </Button>
          </li>
        ))}
      </ul>
      {explained !== undefined && (
        <Dialog title={texts.explainOf(explained.name)} size="wide" onClose={() => setExplained(undefined)}>
          <Suspense fallback={<Loading lines={5} />}>
            <Explanation path={{ businessId, segmentId: explained.segmentId }} contactId={contactId} />
          </Suspense>
        </Dialog>
      )}
    </Section>
  )
}
