/** The dialog that sends one message to an address. */
export const texts = {
  titles: {
    email: 'Send a test email',
    sms: 'Send a test SMS',
    whatsapp: 'Send a WhatsApp test message',
    push: 'Send a test notification',
    webhook: 'Call the webhook as a test',
  },
  short: 'Sends a short text from Sluice now, regardless of consent.',
  ofTemplate: (name: string) => `Sends the saved version of “${name}” now, regardless of consent.`,
  email: 'Email address',
  phone: 'Phone number',
  contactId: 'ID of a contact',
  contactIdHint: 'The browsers of this contact get it by Web Push.',
  send: 'Send it',
  outcomes: {
    accepted: 'It was accepted.',
    refused: 'It was permanently refused.',
    temporary: 'It was not accepted this time. Try again later.',
    unknown: 'It was handed over, but there was no answer. It may still arrive.',
  },
  loginRefused: 'The server refused the user or the password. Check them in the settings of the channel.',
  logged: 'This channel keeps its messages in the log: nothing left the server.',
  reason: 'The provider says:',
}
