/** Lets a person who cannot edit the board stop its mails. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import { Button } from '../../../parts/action/button.tsx'
import { Confirm } from '../../../parts/overlay/confirm.tsx'
import { Dialog } from '../../../parts/overlay/dialog.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { useMe } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { type Board, type BoardPath, boardQuery } from '../queries.ts'

/** Whether the board is sent to the signed-in person. */
export const useGetsMail = ({ mail }: Board): boolean => mail.recipients.includes(useMe().user.id)

interface LeaveMailDialogProps {
  path: BoardPath
  board: Board
  onClose: () => void
}

export function LeaveMailDialog({ path, board, onClose }: LeaveMailDialogProps) {
  const texts = textsOf('boards')
  const shell = textsOf('shell')
  const client = useQueryClient()
  const getsNow = useGetsMail(board)
  // The dialog keeps its content while it closes.
  const [getsMail] = useState(getsNow)
  const leave = async () => {
    const request = api.DELETE('/dashboard/api/b/{businessId}/boards/{boardId}/mail/me', { params: { path } })
    client.setQueryData(boardQuery(path).queryKey, await take(request))
    showToast(shell.saved)
  }
  if (getsMail)
    return (
      <Confirm title={texts.mailTitle} action={texts.leaveMail} onConfirm={leave} onClose={onClose}>
        {texts.getsMail}
      </Confirm>
    )
  return (
    <Dialog title={texts.mailTitle} onClose={onClose}>
      <div className="stack">
        <div>{texts.getsNoMail}</div>
        <div className="actions">
          <Button onClick={onClose}>{shell.close}</Button>
        </div>
      </div>
    </Dialog>
  )
}
