/** A contact in a row: a link for people who may open the contact. */
import { Link } from '@tanstack/react-router'
import { useCan } from '../../session/session.ts'
import { textsOf } from '../../texts/index.ts'
import styles from './contact-cell.module.css'

interface ContactCellProps {
  businessId: string
  /** Null when the person was erased. */
  contactId: string | null
  name: string | undefined
}

export function ContactCell({ businessId, contactId, name }: ContactCellProps) {
  const texts = textsOf('segments')
  const canSee = useCan('contacts:read')
  if (contactId === null) return <span className={`muted ${styles['erased']}`}>{texts.erased}</span>
  if (!canSee) return <code className="muted">{contactId}</code>
  return (
    <Link
      to="/dashboard/b/$businessId/contacts/$contactId"
      params={{ businessId, contactId }}
      tabIndex={-1}
      className="foreign"
    >
      {name ?? texts.unnamed}
    </Link>
  )
}
