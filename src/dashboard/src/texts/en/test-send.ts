/** The dialog that sends one message to an address. */
export const texts = {
  titles: {
    email: 'Send a test email',
    sms: 'Send a test SMS',
    whatsapp: 'Send a WhatsApp test message',
    push: 'Send a test notification',
    webhook: 'Call the webhook as a test',
  },
  short: 'A short text of Sluice goes out now, whatever the consent.',
  ofTemplate: (name: string) => `“${name}” goes out now as it is saved, whatever the consent.`,
  email: 'Email address',
  phone: 'Phone number',
  contactId: 'ID of a contact',
  contactIdHint: 'By Web Push, the browsers of this contact get it.',
  send: 'Send it',
  outcomes: {
    accepted: 'It was accepted.',
    refused: 'It was refused for good.',
    temporary: 'It was not taken now. Try again later.',
    unknown: 'It was handed over, and there was no answer. It may arrive.',
  },
  logged: 'This channel keeps its messages in the log: nothing left the server.',
  reason: 'The provider says:',
}
