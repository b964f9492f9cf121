/** Asks before changes are lost. */
import { useBlocker } from '@tanstack/react-router'
import type { RefObject } from 'react'
import { Button } from '../../../parts/action/button.tsx'
import { Dialog } from '../../../parts/overlay/dialog.tsx'
import { textsOf } from '../../../texts/index.ts'

interface LeaveDialogProps {
  /** A ref, because it is read when the page is left: saving changes it just before that. */
  isChanged: RefObject<boolean>
  onLeave: () => void
}

export function LeaveDialog({ isChanged, onLeave }: LeaveDialogProps) {
  const texts = textsOf('segments')
  const blocker = useBlocker({
    // The two views of the rule are on one page.
    shouldBlockFn: ({ current, next }) => isChanged.current && current.pathname !== next.pathname,
    enableBeforeUnload: () => isChanged.current,
    withResolver: true,
  })
  if (blocker.status !== 'blocked') return null
  return (
    <Dialog
      title={texts.leaveTitle}
      onClose={blocker.reset}
      footer={
        <>
          <Button onClick={blocker.reset}>{texts.stay}</Button>
          <Button
            kind="danger"
            onClick={() => {
              onLeave()
              blocker.proceed()
            }}
          >
            {texts.leave}
          </Button>
        </>
      }
    >
      {texts.leaveText}
    </Dialog>
  )
}
