import { type Fault, faultOf } from '../faults.ts'
import { isClean } from '../events/text.ts'
import { type Attachment, MAX_ATTACHMENT_BYTES } from './call.ts'

/** As it was sent, after its shape was checked. */
export interface SentAttachment {
  filename: string
  contentType: string
  content: string
  contentId?: string | undefined
}

const FORBIDDEN_IN_NAMES = /[/\\\p{Cc}]/u
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/
const CONTENT_ID = /^[^\s<>()"\\,;:\p{C}]{1,255}$/u
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Reads files. Base64 may have line breaks. */
export function readAttachments(sent: readonly SentAttachment[]): { attachments: Attachment[] } | { faults: Fault[] } {
  const faults: Fault[] = []
  const attachments = sent.map((one, place): Attachment => {
    const path = `attachments.${place}`
    const { filename, contentType, contentId } = one
    if (FORBIDDEN_IN_NAMES.test(filename) || !isClean(filename)) faults.push(faultOf(`${path}.filename`, 'file_name'))
    if (!MEDIA_TYPE.test(contentType)) faults.push(faultOf(`${path}.contentType`, 'media_type'))
    if (contentId !== undefined && !CONTENT_ID.test(contentId)) faults.push(faultOf(`${path}.contentId`, 'content_id'))
    const content = decode(one.content)
    if (content === null) faults.push(faultOf(`${path}.content`, 'base64'))
    return { filename, contentType, contentId: contentId ?? null, content: content ?? new Uint8Array() }
  })
  const bytes = attachments.reduce((sum, { content }) => sum + content.byteLength, 0)
  if (bytes > MAX_ATTACHMENT_BYTES) faults.push(faultOf('attachments', 'bytes_up_to', { max: MAX_ATTACHMENT_BYTES }))
  return faults.length > 0 ? { faults } : { attachments }
}

function decode(text: string): Uint8Array | null {
  const base64 = /\s/.test(text) ? text.replaceAll(/\s+/g, '') : text
  return BASE64.test(base64) ? Buffer.from(base64, 'base64') : null
}
