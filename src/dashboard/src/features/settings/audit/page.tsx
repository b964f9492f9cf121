import { Page } from '../../../parts/page/page.tsx'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { AuditTable } from './audit-table.tsx'

export function AuditPage() {
  const texts = textsOf('settings')
  const { id: businessId } = useBusiness()
  return (
    <Page title={texts.audit} intro={texts.auditIntro} width="full">
      <AuditTable businessId={businessId} />
    </Page>
  )
}
