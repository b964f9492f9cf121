import { Dialog } from '../../../parts/overlay/dialog.tsx'
import { FormDialog } from '../../../parts/overlay/form-dialog.tsx'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import { Badge } from '../../../parts/value/badge.tsx'
import { Button } from '../../../parts/action/button.tsx'
import { Copy } from '../../../parts/value/code.tsx'
import { Confirm } from '../../../parts/overlay/confirm.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { TextField } from '../../../parts/form/field.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { meQuery, useMe } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import styles from './account.module.css'
import { QrCode } from './qr-code.tsx'

interface Secret {
  secret: string
  uri: string
}

export function SecondStep() {
  const texts = textsOf('account')
  const { user } = useMe()
  const client = useQueryClient()
  const [secret, setSecret] = useState<Secret | null>(null)
  const [isRemoving, setRemoving] = useState(false)
  const start = useMutation({ mutationFn: () => take(api.POST('/dashboard/api/me/totp')), onSuccess: setSecret })
  const refresh = () => client.invalidateQueries(meQuery)
  const remove = async () => {
    await take(api.DELETE('/dashboard/api/me/totp'))
    await refresh()
    showToast(texts.totpRemoved)
  }
  return (
    <Section
      title={texts.totp}
      intro={texts.totpIntro}
      actions={
        <>
          <Badge kind={user.hasTotp ? 'good' : 'neutral'}>{user.hasTotp ? texts.totpOn : texts.totpOff}</Badge>
          {user.hasTotp ? (
            <Button size="small" onClick={() => setRemoving(true)}>
              {texts.totpRemove}
            </Button>
          ) : (
            <Button size="small" isPending={start.isPending} onClick={() => start.mutate()}>
              {texts.totpStart}
            </Button>
          )}
        </>
      }
    >
      {start.error !== null && <ErrorBox error={start.error} />}
      {secret !== null && (
        <SetUp
          secret={secret}
          onClose={() => {
            setSecret(null)
            void refresh()
          }}
        />
      )}
      {isRemoving && (
        <Confirm title={texts.totp} action={texts.totpRemove} onConfirm={remove} onClose={() => setRemoving(false)}>
          {texts.totpRemoveText}
        </Confirm>
      )}
    </Section>
  )
}

function SetUp({ secret: { secret, uri }, onClose }: { secret: Secret; onClose: () => void }) {
  const texts = textsOf('account')
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  const form = useForm(async ({ code = '' }) => {
    const { recoveryCodes } = await take(
      api.PUT('/dashboard/api/me/totp', { body: { code: code.replaceAll(/\s/g, '') } }),
    )
    setCodes(recoveryCodes)
  })
  if (codes !== null) return <RecoveryCodes codes={codes} onClose={onClose} />
  return (
    <FormDialog title={texts.totp} form={form} action={texts.totpConfirm} onClose={onClose}>
      <p>{texts.totpScan}</p>
      <QrCode text={uri} label={texts.totpQr} />
      <div className={styles['manual']}>
        <span className="muted small">{texts.totpManual}</span>
        <code dir="ltr">{secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code>
        <Copy what={secret} />
      </div>
      <TextField
        name="code"
        label={texts.totpCode}
        inputMode="numeric"
        autoComplete="one-time-code"
        dir="ltr"
        required
        error={form.issueOf('code')}
      />
    </FormDialog>
  )
}

function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const texts = textsOf('account')
  return (
    <Dialog
      title={texts.recovery}
      isKept
      onClose={onClose}
      footer={
        <>
          <Copy what={codes.join('\n')} />
          <Button kind="primary" onClick={onClose}>
            {texts.recoveryDone}
          </Button>
        </>
      }
    >
      <p>{texts.recoveryText}</p>
      <ul className={styles['codes']} dir="ltr">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
