import type { Column } from '../../../parts/list/table.tsx'
import { textsOf } from '../../../texts/index.ts'
import { ContactCell } from '../../contacts/links.ts'

interface WithContact {
  /** Null when the person was erased. */
  contactId: string | null
  name: string | undefined
}

/** Column with the contact that a row of a campaign is about. */
export const contactColumn = <Row extends WithContact>(businessId: string): Column<Row> => ({
  key: 'contact',
  header: textsOf('campaigns').contact,
  width: 'minmax(120px, 2fr)',
  cell: ({ contactId, name }) => <ContactCell businessId={businessId} contactId={contactId} name={name} />,
})
