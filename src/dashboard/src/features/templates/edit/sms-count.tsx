import { smsSize } from '../../../../../rules/messages/sms-segments.ts'
import { textsOf } from '../../../texts/index.ts'

/** How many messages an SMS is. Values make it longer or shorter, and are known in the preview. */
export function SmsCount({ text }: { text: string }) {
  const texts = textsOf('templates')
  const { encoding, characters, segments } = smsSize(text)
  return (
    <p className="muted small">
      {texts.smsSize(characters, segments)} {encoding === 'UCS-2' && texts.smsUnicode}
      {/\{[{%]/.test(text) && ` ${texts.smsValues}`}
    </p>
  )
}
