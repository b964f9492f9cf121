/** Sets whether the board is mailed on Mondays, and to whom. */
import { FormDialog } from '../../../parts/overlay/form-dialog.tsx'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import { CheckboxField } from '../../../parts/form/field.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Note } from '../../../parts/feedback/note.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { useBusiness, useMe, useRemedy } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { type Board, type BoardPath, boardQuery, boardsQuery } from '../queries.ts'
import { peopleQuery } from '../../settings/links.ts'
import styles from './board.module.css'

interface MailDialogProps {
  path: BoardPath
  board: Board
  onClose: () => void
}

export function MailDialog({ path, board, onClose }: MailDialogProps) {
  const texts = textsOf('boards')
  const shell = textsOf('shell')
  const { timezone } = useBusiness()
  const { installation, user } = useMe()
  const remedy = useRemedy(texts.cannotMail.remedies)
  const client = useQueryClient()
  const people = useQuery(peopleQuery(path.businessId))
  const [isOn, setOn] = useState(board.mail.isOn)
  const [chosen, setChosen] = useState(board.mail.recipients.length > 0 ? board.mail.recipients : [user.id])
  const members = people.data?.members
  const form = useForm(async () => {
    // Only members of the business: an operator may be preselected without being one.
    const recipients = chosen.filter((id) => members?.some(({ userId }) => userId === id))
    const body = { isOn, recipients }
    const data = await take(api.PUT('/dashboard/api/b/{businessId}/boards/{boardId}/mail', { params: { path }, body }))
    client.setQueryData(boardQuery(path).queryKey, data)
    void client.invalidateQueries(boardsQuery(path.businessId))
    showToast(shell.saved)
    onClose()
  })
  const toggle = (id: string, isChosen: boolean) =>
    setChosen((before) => (isChosen ? [...before, id] : before.filter((one) => one !== id)))
  return (
    <FormDialog
      title={texts.mailTitle}
      form={form}
      isIncomplete={members === undefined}
      onClose={onClose}
      error={form.error ?? people.error}
      errorText={form.issueOf('recipients') === undefined ? undefined : texts.tooFewRecipients}
    >
      {!installation.canMail && (
        <Note>
          {texts.cannotMail.text} {remedy}
        </Note>
      )}
      <CheckboxField
        name="isOn"
        label={texts.mailOn}
        hint={texts.mailHint(timezone)}
        checked={isOn}
        onChange={({ target }) => setOn(target.checked)}
      />
      <fieldset className="stack">
        <legend>{texts.recipients}</legend>
        <div className={styles['people']}>
          {members === undefined && <Loading lines={5} />}
          {members?.map(({ userId, email, name }) => (
            <CheckboxField
              key={userId}
              name={userId}
              label={name === '' ? email : `${name} (${email})`}
              checked={chosen.includes(userId)}
              onChange={({ target }) => toggle(userId, target.checked)}
            />
          ))}
        </div>
      </fieldset>
    </FormDialog>
  )
}
