import { Button } from '../../parts/action/button.tsx'
import { Code } from '../../parts/value/code.tsx'
import { Dialog } from '../../parts/overlay/dialog.tsx'
import { Note } from '../../parts/feedback/note.tsx'
import { textsOf } from '../../texts/index.ts'

/** The signing key of a new webhook. No page shows it again. */
export function ShownSigningKey({ signingKey, onClose }: { signingKey: string; onClose: () => void }) {
  const texts = textsOf('deliveries')
  return (
    <Dialog
      title={texts.newKey}
      size="wide"
      isKept
      onClose={onClose}
      footer={
        <Button kind="primary" onClick={onClose}>
          {texts.keyStored}
        </Button>
      }
    >
      <div className="stack">
        <Note>{texts.shownOnce}</Note>
        <Code text={signingKey} label={texts.secretNames.signingKey} />
      </div>
    </Dialog>
  )
}
