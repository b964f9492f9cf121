/** Mail through Amazon SES (https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html). */
import { Type } from '@sinclair/typebox'
import { faultOf } from '../../../rules/faults.ts'
import { closed } from '../../../rules/schemas.ts'
import { composeMail } from '../compose-mail.ts'
import { checkSenders } from '../mail-settings.ts'
import { baseUrl, credential, fieldOf, httpProvider } from './http-provider.ts'
import { NO_ADDRESS, senderFields } from './mail-fields.ts'
import { signV4 } from './sign-v4.ts'

/** The tag of each mail, which comes back in the events of a configuration set. */
export const SES_TAG = 'sluice-message'

export const ses = httpProvider({
  name: 'ses',
  channels: ['email'],
  settings: Type.Object(
    {
      ...senderFields,
      region: Type.String({
        pattern: '^[a-z]{2}(-[a-z]{2,16}){1,3}-[0-9]{1,2}$',
        rule: faultOf('', 'aws_region'),
        description: 'The region of AWS.',
        examples: ['eu-central-1'],
      }),
      accessKeyId: Type.String({
        pattern: '^[A-Za-z0-9]{4,128}$',
        rule: faultOf('', 'access_key_id'),
        description: 'The id of the access key.',
        examples: ['AKIAIOSFODNN7EXAMPLE'],
      }),
      configurationSet: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z0-9_-]{1,64}$',
          rule: faultOf('', 'configuration_set'),
          description: 'The configuration set whose events are published: those report the delivery.',
          examples: ['sluice'],
        }),
      ),
      baseUrl,
    },
    closed,
  ),
  secrets: Type.Object({ secretAccessKey: credential('The secret access key.') }, closed),
  defaultUrl: ({ region }) =>
    `https://email.${region}.${region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'}`,
  account: ['accessKeyId', 'region'],
  check: ({ sender, replyTo }) => checkSenders({ sender, replyTo }),
  async write(message, { settings, secret: { secretAccessKey }, baseUrl: base, now }) {
    const { sender, replyTo, region, accessKeyId, configurationSet } = settings
    const mail = await composeMail(message, { sender, replyTo, now })
    if (mail === null) return NO_ADDRESS
    const body = JSON.stringify({
      FromEmailAddress: mail.from,
      Destination: { ToAddresses: mail.to },
      Content: { Raw: { Data: mail.content.toString('base64') } },
      EmailTags: [{ Name: SES_TAG, Value: message.messageId }],
      ConfigurationSetName: configurationSet,
    })
    const url = new URL(`${base}/v2/email/outbound-emails`)
    const headers = { 'content-type': 'application/json' }
    const credentials = { accessKeyId, secretAccessKey, region, service: 'ses' }
    return { url: url.href, body, headers: signV4({ method: 'POST', url, headers, body }, credentials, now) }
  },
  isIdempotent: false,
  idOf: (answer) => fieldOf(answer, 'MessageId'),
})
