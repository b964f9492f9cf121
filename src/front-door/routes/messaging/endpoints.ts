/** The endpoints about settings that apply to all campaigns of a business. */
import type { BusinessEndpoint } from '../business-endpoint.ts'
import * as manage from './manage.ts'
import * as schemas from './schemas.ts'

const tag = 'Campaigns'
const messaging = {
  quietHours: { from: '21:00', to: '09:00' },
  caps: [{ channel: 'email', atMost: 3, days: 7, whenReached: 'wait' }],
  perAddressHour: 20,
}
const reply = (message: string) => ({
  200: {
    message,
    description: 'Quiet hours, caps, and the limit of send calls to one address.',
    data: schemas.MessagingData,
    example: { messaging },
  },
})

export const messagingEndpoints: readonly BusinessEndpoint[] = [
  {
    method: 'GET',
    path: '/messaging',
    permission: 'lists:read',
    handler: manage.getMessaging,
    operation: {
      summary: 'Read what holds for all campaigns',
      description:
        'Quiet hours of the campaigns that name none, caps besides those of each campaign, and how many messages of send calls one address gets in an hour.',
      tag,
      replies: reply(manage.READ),
    },
    errors: [],
  },
  {
    method: 'PUT',
    path: '/messaging',
    permission: 'business:write',
    handler: manage.putMessaging,
    operation: {
      summary: 'Set what holds for all campaigns',
      description:
        'Replaces all of them. It holds from the answer on, for contacts that are enrolled already, too: each message is looked at when it is due.',
      tag,
      body: { schema: schemas.MessagingSchema, example: messaging },
      replies: reply(manage.SAVED),
    },
    errors: [],
  },
]
